// What this browser remembers: theme, trace template, history of the command line.

const PREFIX = "penstock.";

/** What was remembered under this name; *otherwise* if there is nothing, or it may not be read. */
export function recall(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing: it is forgotten with the page
  }
}
