// Replies that are lines of text: CLIENT LIST, INFO.

/** A line of name=value words as an object; values may have spaces in them at no place. */
export function clientOf(line) {
  const fields = {};
  for (const word of line.split(" ")) {
    const at = word.indexOf("=");
    if (at > 0) fields[word.slice(0, at)] = word.slice(at + 1);
  }
  return fields;
}

export const clientsOf = (text) => String(text).split("\n").filter((line) => line.trim()).map(clientOf);

/** INFO's fields: [{section, name, value}]. */
export function infoOf(text) {
  const rows = [];
  let section = "";
  for (const line of String(text).split(/\r?\n/)) {
    if (line.startsWith("#")) section = line.slice(1).trim();
    else if (line.includes(":")) rows.push({ section, name: line.slice(0, line.indexOf(":")), value: line.slice(line.indexOf(":") + 1) });
  }
  return rows;
}

/** INFO's fields as an object. */
export const infoObject = (text) => Object.fromEntries(infoOf(text).map(({ name, value }) => [name, value]));
