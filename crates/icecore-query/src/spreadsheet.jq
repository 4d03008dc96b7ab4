# Tables for a spreadsheet: texts that it would run as formulas get a quote before them
def plain_csv: @csv;
def plain_tsv: @tsv;
def @csv: [.[] | if isstring then spreadsheet_text else . end] | plain_csv;
def @tsv: [.[] | if isstring then spreadsheet_text else . end] | plain_tsv;
