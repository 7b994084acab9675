"""What a shell or code makes of texts is known without running them; never for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.guard import texts
from agent_memory_protocol.guard.fold import folded
from agent_memory_protocol.guard.shell import read_commands
from agent_memory_protocol.guard.words import unbraced
from tests.each_row import each_row

SHELL = [
    ("x=abab; run ${x/b/X} ${x//b/X} ${x/#a/X} ${x/%b/X} ${x/z/X}", ["aXab", "aXaX", "Xbab", "abaX", "abab"]),
    ("x=a/b.c.d; run ${x#*/} ${x##*.} ${x%.*} ${x%%.*} ${x%/}", ["b.c.d", "d", "a/b.c", "a/b", "a/b.c.d"]),
    ("x=abcdef; run ${x:2} ${x:1:3} ${x: -2} ${x:9} ${#x}", ["cdef", "bcd", "ef", "6"]),
    ("x=aB; run ${x^^} ${x,,} ${x^} ${x@U} ${x@L}", ["AB", "ab", "AB", "AB", "ab"]),
    (r"x='\x2eA\056'; run ${x@E}", [".A."]),
    ("x=a; run ${x:-b} ${y:-b} ${x:+c} ${z:=d} $z", ["a", "b", "c", "d", "d"]),
    ("x=y; y=z; run ${!x}", ["z"]),
    ("x=ab; y=b; run ${x/$y/'c d'} \"${x%\"$y\"}\"", ["ac", "d", "a"]),
    ("x='a.b?c'; run ${x//[.?]/-} ${x//\\./_}", ["a-b-c", "a_b?c"]),
    ('a=(x y "z z"); run ${a[1]} "${a[2]}" "${a[@]}"', ["y", "z z", "x", "y", "z z"]),
    ('a=(x y); a+=(z); i=2; IFS=/; run "${a[*]}" ${a[$i]}', ["x/y/z", "z"]),
    ("declare -A m=([k]=v [l]=w); run ${m[l]}${m[k]}", ["wv"]),
    ("set -- a b; run $2$1", ["ba"]),
    ("read a b <<< 'c d e'; run $a-$b", ["c-d", "e"]),
    ("printf -v p '%s/%s' a b; run $p", ["a/b"]),
    (r"run $(printf '\056%s' a b) $(printf '%b%%' '\x41') $(echo -e '\0056x')", [".a.b", "A%", ".x"]),
    ("run $(basename a/b.md .md) $(dirname a/b.md)", ["b", "a"]),
    ("run $(echo YWJj | base64 -d) $(echo 616263 | xxd -r -p) $(echo cba | rev)", ["abc", "abc", "abc"]),
    ("run $(echo abc | tr a-c x-z) $(echo a_b | tr -d _) $(echo AB | tr '[:upper:]' '[:lower:]')", ["xyz", "ab", "ab"]),
    ("run $(echo 1.2 | sed 's/\\./-/') $(echo abcd | cut -c2-3) $(echo abcd | head -c 2)", ["1-2", "bc", "ab"]),
]  # fmt: skip


@each_row("text, words", SHELL, ids=[text for text, _ in SHELL])
def test_a_shell_s_texts_are_put_together(text, words):
    assert read_commands(text)[-1].words == ["run", *words]


CODE = [
    ("f('a' + \"b\" 'c')", "f('abc')"),
    ("f(''.join(['a', 'b']))", "f('ab')"),
    ("f(['a', 'b'].join('-'))", "f('a-b')"),
    ("f(os.path.join('a', 'b'))", "f(os.path('a/b'))"),
    ("a = 'x'\nb = f'{a}y'\nf(b)", "f('xy')"),
    ("a = 'x'\na += 'y'\nf(a)", "f('xy')"),
    ('$d = "x"; $d .= "y"; f("$d/z")', "f('xy/z')"),
    ("f('%s-%s' % ('a', 'b'), '{}c'.format('d'))", "f('a-b', 'dc')"),
    ("f('abc'[::-1], 'abc'[1:], 'abc'.slice(0, -1))", "f('cba', 'bc', 'ab')"),
    ("f('a.b'.replace('.', '-'), chr(97), String.fromCharCode(98, 99))", "f('a-b', 'a', String.'bc')"),
    ("f('\\x41\\u0042')", "f('AB')"),
    ("f(b64decode('LnNjYWZmb2xkaW5n'))", "f(b64decode('.scaffolding'))"),
    ("f(fromhex('2e73636166666f6c64696e67'), 'gnidloffacs.')", "f(fromhex('.scaffolding'), '.scaffolding')"),
    ("f([46,115,99,97,102,102,111,108,100])", "f(['.scaffold'])"),
    ("f('YWJjZGVm', 'deadbeef', [100, 101, 102, 103, 104])", "f('YWJjZGVm', 'deadbeef', [100, 101, 102, 103, 104])"),
    ("f(r'\\x41', \"it's\")", "f('\\x41', \"it's\")"),
]


@each_row("code, told", CODE, ids=[code for code, _ in CODE])
def test_code_s_texts_are_put_together(code, told):
    assert folded(code).strip("\n; ") == told


def test_braces_make_several_words():
    assert {".a", ".b"} <= set(unbraced(".{a,b}"))
    assert {"1x", "1y", "2x", "2y"} <= set(unbraced("{1,2}{x,y}"))


_PARTS = st.sampled_from(
    [*"'\"`[]{}(),+.%\\:/#^@* \n", "${x", "x=", "a", "''.join(", "chr(46)", "$(", "printf ", "| base64 -d", "qw(", "%s"]
)


@given(st.lists(_PARTS, max_size=40).map("".join))
def test_any_text_is_put_together_without_an_error(text):
    folded(text)
    read_commands(text)
    texts.formatted([text, text])
    for name in ("base64", "base32", "xxd", "rev", "tr", "sed", "cut", "head", "openssl"):
        assert isinstance(texts.filtered(name, ["-d", "-r", "-p", text], text), str)


LONG = {
    "sums": "+".join(["'a'"] * 16_000),
    "names that double": "a0='xxxxxxxx'\n" + "".join(f"a{i}=f'{{a{i - 1}}}{{a{i - 1}}}'\n" for i in range(1, 60)),
    "never closed": "\\'" * 30_000,
    "brackets": "[" * 60_000,
    "Base64": f"'{'QUJD' * 15_000}'",
}


@pytest.mark.slow
@each_row("kind", LONG)
def test_long_code_becomes_no_longer_than_twice_what_is_read(kind):
    assert len(folded(LONG[kind])) <= 4 << 16


@pytest.mark.slow
def test_a_pattern_that_could_take_for_ever_is_left():
    assert read_commands(f"x={'a' * 500}; run ${{x//*a*a*b/c}}")[-1].words == ["run", "a" * 500]
