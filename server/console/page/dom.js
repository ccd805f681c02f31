// Elements. Text gets in as text alone: there is no way to markup here, and the page's policy allows none.

// id gives the element of the page with this id.
export function id(name) { return document.getElementById(name); }

// make makes an element. Properties go to the element as they are, "data-" and "aria-" ones as attributes.
export function make(tag, properties = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.includes("-") || name === "role" || name === "scope") out.setAttribute(name, value);
    else out[name] = value;
  }
  out.append(...children);
  return out;
}

// button makes a button. say is what it is called where its text alone would not tell.
export function button(text, onclick, say) {
  return make("button", { type: "button", className: "small", textContent: text, onclick, "aria-label": say });
}

// busy keeps a button from being pressed again until what it began has ended.
export async function busy(element, work) {
  if (element.getAttribute("aria-busy") === "true") return;
  element.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    element.removeAttribute("aria-busy");
  }
}

// twice is a button that asks once more before it does what cannot be undone. Its of says what it is about.
export function twice(text, act, about = "") {
  let timer = 0;
  const say = () => {
    b.textContent = timer ? "Sure?" : text;
    b.setAttribute("aria-label", timer ? `Sure? ${text} ${about}` : `${text} ${about}`);
    b.classList.toggle("sure", timer !== 0);
  };
  const reset = () => {
    clearTimeout(timer);
    timer = 0;
    say();
  };
  const b = button(text, () => {
    if (timer) {
      reset();
      busy(b, act);
      return;
    }
    timer = setTimeout(reset, 4000);
    say();
  });
  b.of = (what) => {
    if (what === about) return;
    about = what;
    say();
  };
  say();
  return b;
}
