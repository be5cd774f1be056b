"""Where blocks of work are computed: in this process, in several of this machine, or on a cluster."""
