"""ELAN files: a file per recording, with a tier of words and a tier of phones for each speaker."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from asr.alignment.recording_labels import Label, RecordingLabels
from asr.corpus.formats.elan import open_elan
from asr.util.files import atomic_write

_TYPE = "aligned"
_NEW = """<ANNOTATION_DOCUMENT AUTHOR="" DATE="1970-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/><TIME_ORDER/></ANNOTATION_DOCUMENT>"""
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def write_labels(path: Path, recording: RecordingLabels) -> None:
    """Write the tiers of a recording as independent tiers; if its source is an ELAN file, add them to a copy of it."""
    ElementTree.register_namespace("xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root = _opened(recording)
    for name, speaker, labels in recording.named_tiers({tier.get("TIER_ID", "") for tier in root.iter("TIER")}):
        _add_tier(root, name, speaker, labels)
    types = [one.get("LINGUISTIC_TYPE_ID") for one in root.iter("LINGUISTIC_TYPE")]
    if _TYPE not in types:
        root.insert(_after_tiers(root), Element("LINGUISTIC_TYPE", LINGUISTIC_TYPE_ID=_TYPE, TIME_ALIGNABLE="true"))
    ElementTree.indent(root, " ")
    with atomic_write(path) as temporary:
        ElementTree.ElementTree(root).write(temporary, encoding="UTF-8", xml_declaration=True)


def _opened(recording: RecordingLabels) -> Element:
    source = recording.source
    if source is not None and source.suffix.lower() == ".eaf":
        open_elan(source)  # refuses damaged files and document type definitions
        return ElementTree.parse(source).getroot()
    root = ElementTree.fromstring(_NEW)
    if recording.audio is not None:
        url = recording.audio.resolve().as_uri()
        ElementTree.SubElement(root[0], "MEDIA_DESCRIPTOR", MEDIA_URL=url, MIME_TYPE="audio/x-wav")
    return root


def _add_tier(root: Element, name: str, speaker: str, labels: Sequence[Label]) -> None:
    order = root.find("TIME_ORDER")
    if order is None:
        order = Element("TIME_ORDER")
        root.insert(1, order)
    slot = _largest(one.get("TIME_SLOT_ID") for one in order)
    number = _largest(one.get("ANNOTATION_ID") for one in root.iter() if one.tag.endswith("_ANNOTATION"))
    tier = Element("TIER", LINGUISTIC_TYPE_REF=_TYPE, PARTICIPANT=speaker, TIER_ID=name)
    end = 0
    for label in labels:
        start, end = max(end, round(1000 * label.start)), round(1000 * label.end)
        if start >= end:
            continue
        for time in (start, end):
            slot += 1
            ElementTree.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=f"ts{slot}", TIME_VALUE=str(time))
        number += 1
        annotation = ElementTree.SubElement(ElementTree.SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION")
        annotation.attrib |= {"ANNOTATION_ID": f"a{number}", "TIME_SLOT_REF1": f"ts{slot - 1}"}
        annotation.set("TIME_SLOT_REF2", f"ts{slot}")
        ElementTree.SubElement(annotation, "ANNOTATION_VALUE").text = _NOT_XML.sub("\ufffd", label.text)
    root.insert(_after_tiers(root), tier)


def _largest(names: Iterator[str | None]) -> int:
    """Return the largest number at the end of the names, or 0."""
    return max((int(found[0]) for name in names if (found := re.search(r"\d+$", name or ""))), default=0)


def _after_tiers(root: Element) -> int:
    """Return the place after the last tier, or after the times."""
    return max(place for place, one in enumerate(root) if one.tag in ("HEADER", "TIME_ORDER", "TIER")) + 1
