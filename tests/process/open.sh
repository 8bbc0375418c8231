#!/usr/bin/env bash
# ctrace open: the page lies in the cache for its user only, and the browser gets its address; over SSH and without a display none is started.
# What is on the page: tests/process/report_page.py.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
silent() { [ ! -s "$1" ] || { cat "$1"; false; }; }

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#location = $PWD" \
	'mftrace.emitter.binfile#file = shop one.ctb' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/report_subject" shop 30
trace='shop one.ctb'
events=$(ctrace show --count "$trace")

# What stands for a browser records its arguments and its mask.
cat >browser <<'END'
#!/usr/bin/env bash
printf '%s\n' "$@" >"$RECORD"
umask >>"$RECORD"
END
cat >failing <<'END'
#!/bin/sh
exit 3
END
cat >lasting <<'END'
#!/bin/sh
echo $$ >"$RECORD"
exec sleep 1000
END
chmod +x browser failing lasting
export RECORD=$PWD/record
unset SSH_CONNECTION SSH_TTY SSH_CLIENT DISPLAY WAYLAND_DISPLAY BROWSER
umask 022
run() { # VARIABLE=VALUE... ARGUMENT...: those of ctrace open begin at the first word without "="
	local settings=()
	while [[ ${1-} == [A-Z]*=* ]]; do settings+=("$1") && shift; done
	rm -f record
	env XDG_CACHE_HOME="$PWD/cache" "${settings[@]}" ctrace open "$@" >out 2>err
	status=$?
}
page=$PWD/cache/ctrace/shop_one.ctb.html

# ---- a browser
run BROWSER="$PWD/browser" "$trace"
check 'a browser: status' is "$status" 0
check 'the page is named' has out "^$page: $events events, 0\.[0-9] MB\$"
check 'nothing else is printed' silent err
check 'the browser gets the address, and the mask of the user' is "$(cat record)" "file://$page"$'\n0022'
check 'it is the page of ctrace report' is "$(head -1 "$page"; tail -1 "$page")" $'<!DOCTYPE html>\n</html>'
check 'only its user may read it' is "$(stat -c %a "$page" "$(dirname "$page")" "$PWD/cache" | tr '\n' ' ')" '600 700 700 '
run BROWSER="$PWD/none %s:$PWD/browser --new-window %s#timeline" "$trace"
check 'the second command, with %s: status' is "$status" 0
check 'the address stands for %s' is "$(head -2 record)" $'--new-window\n'"file://$page#timeline"
check 'the first command is reported' has err "^ctrace open: the browser $PWD/none cannot be run: No such file or directory\$"
run BROWSER="$PWD/browser" -o 'pages%here.html' --limit 100 --title Title "$trace"
check '--output, --limit and --title' has out '^pages%here\.html: 100 events'
check 'a character of addresses is escaped' is "$(head -1 record)" "file://$PWD/pages%25here.html"
check 'this page is for its user only, too' is "$(stat -c %a 'pages%here.html')" 600
run BROWSER="$PWD/lasting" "$trace"
check 'a browser that goes on: status' is "$status" 0
check 'and it does go on' kill "$(cat record)"
run BROWSER="$PWD/browser" "$trace" 'level >= warn'
check 'an expression selects events' is "$(sed -E 's/.*: ([0-9]+) events.*/\1/' out)" "$(ctrace show --count "$trace" 'level >= warn')"

mkdir bin && cp browser bin/xdg-open
run DISPLAY=:7 PATH="$PWD/bin:$PATH" "$trace"
check 'without BROWSER: xdg-open' is "$status $(head -1 record)" "0 file://$page"
run WAYLAND_DISPLAY=wayland-7 PATH="$PWD/bin:$PATH" "$trace"
check 'Wayland is a display, too' is "$status $(head -1 record)" "0 file://$page"

# ---- none
run BROWSER="$PWD/failing:$PWD/none" "$trace"
check 'failing browsers: status' is "$status" 2
check 'the page is there' has out "^$page: "
check 'each is reported' has err "^ctrace open: the browser $PWD/failing ended with exit status 3\$"
check 'and what to do' has err '^ctrace open: no browser could be started; open the page in one, or set BROWSER'
mkdir nothing && ln -s "$(type -P ctrace)" nothing/ctrace
run DISPLAY=:7 PATH="$PWD/nothing" "$trace"
check 'no xdg-open: status' is "$status" 2
check 'no xdg-open: one line' is "$(wc -l <err)" 1
run "$trace"
check 'no display: status' is "$status" 0
check 'no display: the page is named' has out "^$page: "
check 'no display: what to do' has err '^ctrace open: there is no display, so no browser is started\. Open the page in a browser'
run SSH_CONNECTION='192.0.2.1 4711 192.0.2.2 22' DISPLAY=:7 BROWSER="$PWD/browser" "$trace"
check 'over SSH: status' is "$status" 0
check 'over SSH: how to copy the page' is "$(sed -n 2p err)" "    scp $(uname -n):$page ."
check 'over SSH: no browser is started' test ! -e record

# ---- what is no page
run BROWSER="$PWD/browser" nosuch
check 'no trace: status' is "$status" 2
check 'no trace: reported' has err '^ctrace open: nosuch: no trace, '
run BROWSER="$PWD/browser" --event 4711 "$trace"
check 'no event: status' is "$status" 1
check 'no event: reported' has err '^ctrace open: no events match'
check 'no event: no browser is started' test ! -e record
cp -r "$trace" broken.ctb && printf '\377%.0s' {1..64} | dd of=broken.ctb/stream.0 bs=1 seek=1000 conv=notrunc status=none
run BROWSER="$PWD/browser" broken.ctb
check 'damage: status' is "$status" 1
check 'damage: reported' has err '^ctrace open: broken\.ctb/stream\.0, offset '
check 'damage: the rest is shown' is "$(head -1 record)" "file://$PWD/cache/ctrace/broken.ctb.html"
run BROWSER="$PWD/browser" -o - "$trace"
check 'no page for stdout: status' is "$status" 2
run BROWSER="$PWD/browser" -o nowhere/page.html "$trace"
check 'no such directory' is "$status $(cat err)" '2 ctrace open: nowhere/page.html: No such file or directory'
run --help
check '--help' has out 'show it in the browser'

# ---- which directory
touch -d '8 days ago' cache/ctrace/old.html cache/ctrace/old.txt
touch -d '6 days ago' cache/ctrace/young.html
run "$trace"
check 'pages of more than a week are removed, and nothing else' is "$(cd cache/ctrace && echo [oy]*)" 'old.txt young.html'
mkdir home
run XDG_CACHE_HOME= HOME="$PWD/home" "$trace"
check 'without XDG_CACHE_HOME: .cache in the home' has out "^$PWD/home/.cache/ctrace/shop_one\.ctb\.html: "
run XDG_CACHE_HOME=relative HOME="$PWD/home" "$trace"
check 'a relative XDG_CACHE_HOME is none' has out "^$PWD/home/.cache/ctrace/shop_one\.ctb\.html: "
mkdir linked elsewhere && ln -s "$PWD/elsewhere" linked/ctrace
run XDG_CACHE_HOME="$PWD/linked" HOME= "$trace"
check 'a link is not followed: TMPDIR' has out "^$TMPDIR/ctrace-[A-Za-z0-9]{6}/shop_one\.ctb\.html: "
check 'and nothing is written there' is "$(ls elsewhere)" ''
rm -rf "$TMPDIR"/ctrace-*
run XDG_CACHE_HOME= HOME= nosuch
check 'no page: no directory is left' is "$(ls "$TMPDIR")" ''
run XDG_CACHE_HOME= HOME= TMPDIR="$PWD/no-such" "$trace"
check 'no directory: status' is "$status" 2
check 'no directory: reported' has err "^ctrace open: $PWD/no-such/ctrace-.*: No such file or directory\$"
check 'the cache has this page only' is "$(cd cache/ctrace && echo s*)" 'shop_one.ctb.html'
end
