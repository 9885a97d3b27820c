# Uses what deploy/sandbox/Dockerfile installs, as agents do: `npm run engines` runs it in the image. Prints what was tried; the first
# program that fails ends it.
cd "$(mktemp -d)"
says() { grep -qi "$1" || { echo "$2 does not say $1"; exit 1; }; }

echo '<h1>Quarterly report</h1><p>Revenue grew by seven percent.</p>' > report.html
/usr/lib/chromium/chromium-headless-shell --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf=report.pdf \
  "file://$PWD/report.html" 2> chromium.log || { cat chromium.log; exit 1; }
pdftotext report.pdf - | says 'seven percent' pdftotext
pdftoppm -r 150 -png -singlefile report.pdf page
tesseract page.png stdout 2> /dev/null | says 'seven percent' tesseract
pandoc report.html --output report.docx
pandoc report.docx --to markdown | says '# Quarterly report' pandoc
echo 'chromium, pdftotext, pdftoppm, tesseract, pandoc: a page as PDF, as text, as a picture that is read, as a document'

printf 'city,people\nKöln,1085664\nBonn,335975\n' > cities.csv
csvsort -r -c people cities.csv | csvcut -c city | csvjson | jq -r '.[0].city' | says Köln 'csvkit or jq'
sqlite3 cities.db '.import --csv cities.csv cities' 'select sum(people) from cities' | says 1421639 sqlite3
echo 'csvkit, jq, sqlite3: a table sorted, as JSON, and summed'

ffmpeg -loglevel error -f lavfi -i sine=duration=1 tone.mp3
ffprobe -loglevel error -show_entries format=duration -of csv=p=0 tone.mp3 | says '^1\.' ffprobe
echo 'ffmpeg: a sound of one second'

python3 -m venv venv && venv/bin/python -c 'import sys; print(sys.prefix)' | says venv python3
node -p 'process.version' | says '^v24' node
npm --version | says '^[0-9]' npm
git init -q repository && git -C repository -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
git -C repository log --format=%s | says first git
tmux new-session -d 'echo inside > tmux.txt; tmux wait-for -S done' \; wait-for done && says inside tmux < tmux.txt
printf 'all:\n\t@echo made\n' > Makefile && make | says made make
zip -q report.zip report.html && unzip -p report.zip | rg -q 'seven percent'
echo 'python3, node, npm, git, tmux, make, zip, ripgrep'
