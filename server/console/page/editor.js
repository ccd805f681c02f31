// The script's text box: Tab indents, Enter keeps the indentation, Ctrl+Enter runs. After Esc, Tab leaves as it does
// everywhere else.

const indent = "    ";

// edit makes an editor of a text box.
export function edit(box, run) {
  let leaving = false;
  box.addEventListener("blur", () => { leaving = false; });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const plainKey = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && plainKey && !event.shiftKey && !leaving) {
      event.preventDefault();
      tab(box);
    } else if (event.key === "Enter" && plainKey && !event.shiftKey) {
      event.preventDefault();
      insert(box, "\n" + margin(box));
    }
    leaving = event.key === "Escape";
  });
}

function lineStart(box) { return box.value.lastIndexOf("\n", box.selectionStart - 1) + 1; }

// margin is the white space that the next line begins with: one level more behind a colon.
function margin(box) {
  const line = box.value.slice(lineStart(box), box.selectionStart);
  return line.match(/^[ \t]*/)[0] + (/:\s*$/.test(line) ? indent : "");
}

// tab fills up to the next level, or indents the lines that are selected.
function tab(box) {
  const { selectionStart: start, selectionEnd: end, value } = box;
  if (!value.slice(start, end).includes("\n")) {
    insert(box, indent.slice((start - lineStart(box)) % indent.length));
    return;
  }
  const from = lineStart(box);
  const lines = value.slice(from, end).replace(/^(?=.)/gm, indent);
  box.setSelectionRange(from, end);
  insert(box, lines);
  box.setSelectionRange(from, from + lines.length);
}

// insert types a text, so that it can be undone. The command is old, and nothing else does that.
function insert(box, text) {
  if (!document.execCommand("insertText", false, text)) {
    box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  }
}
