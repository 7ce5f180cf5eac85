"""XREAD and XREADGROUP: what is asked for, what each stream gives, who waits."""
