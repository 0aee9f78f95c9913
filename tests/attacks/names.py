"""File names that would do something if they were taken for anything but text."""

HOSTILE = {
    "html": "<b>bold</b><img src=x onerror=alert(1)>.png",
    "script": "<script>window.ran = 1</script>.png",
    "markdown": "**x** [link](javascript:alert(1)) ![i](http://localhost/i) `c` # h.png",
    "address": "http://evil.example www.evil.example me@evil.example.png",
    "direction": "safe\u202egnp.exe\u2066\u200f.png",
    "lines": "one\n# two\r\n\t- three.png",
    "emoji": ":material/home: :smile: :red[x] :blue-badge[y].png",
    "formula": "$\\frac{1}{2}$ $$x$$.png",
    "spreadsheet": "=HYPERLINK(1) +cmd -1 @x.png",
    "entities": "&lt;b&gt; &#60;i&#62;.png",
    "signs": "a -> b <- c -- d >= e != f.png",
}
