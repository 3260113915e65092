# Steps that the scripts share: a virtual environment, and dsteval in it.

make_venv() {
    if [ ! -x "$1/bin/python" ]; then
        python=${PYTHON:-}
        for candidate in $python python3.11 python3.12 python3.13 python3; do
            if command -v "$candidate" >/dev/null 2>&1 &&
                "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
                python=$candidate
                break
            fi
            python=
        done
        if [ -z "$python" ]; then
            echo "dsteval needs Python 3.11 or newer; set PYTHON to one." >&2
            exit 1
        fi
        echo "Making a virtual environment in $1" >&2
        "$python" -m venv "$1"
    fi
}

# install_into VENV WHAT: only when the package's description changed since the last time.
install_into() {
    stamp="$1/.installed-$(printf '%s' "$2" | tr -c 'a-z\n' '-')"
    if [ ! -e "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
        echo "Installing dsteval and what it needs" >&2
        "$1/bin/python" -m pip install --quiet --disable-pip-version-check -e "$2"
        touch "$stamp"
    fi
}
