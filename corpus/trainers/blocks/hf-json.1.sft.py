@{template "sft.py" .}@
