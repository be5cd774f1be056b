"""Sphinx configuration of the documentation: `make docs` writes the site to build/docs."""

import sys
from pathlib import Path

import asr

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "hybrid-asr"
author = "the hybrid-asr developers"
release = version = asr.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "api_pages",
    "command_pages",
    "gallery_pages",
    "mathml",
    "repository_links",
    "settings_page",
]
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
root_doc = "index"
smartquotes = False  # options and names in quotes stay as they are typed
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"sklearn\..*")]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_allow_digits = False  # "$5" and shell variables are text
myst_dmath_allow_space = False

autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False  # the template lists the methods
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"^(gallery|control)\.py$",
    "image_scrapers": ("gallery_pages.figures",),
    "reset_argv": "gallery_pages.arguments",
    "reset_modules": (),
    "parallel": 2,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "copyfile_regex": "",
    "show_signature": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "furo"
html_title = "hybrid-asr"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"
