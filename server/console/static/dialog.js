// Dialogs: a form that acts, shows the server's error, and closes when the act has succeeded.

import { arrange, button, clear, freshId, h, labelled, setText } from "./dom.js";
import { tell } from "./notice.js";

function shell(title, body) {
  const heading = h("h2", { id: freshId("title") }, title);
  const dialog = h("dialog", { "aria-labelledby": heading.id }, heading, body);
  const opener = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opener?.isConnected) opener.focus();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  document.body.append(dialog);
  return dialog;
}

/** Show something that only is closed. */
export function show(title, ...content) {
  const dialog = shell(title, content);
  dialog.append(h("div", { class: "actions" }, button("Close", () => dialog.close(), { autofocus: true })));
  dialog.showModal();
  return dialog;
}

/** A control of a form, by its description: {name, label, kind, value, hint, options}. */
function control(field) {
  const { name, kind = "text", value = "", options } = field;
  const common = { name, autocomplete: "off", spellcheck: "false" };
  if (kind === "choice") {
    const choices = options.map(([word, label]) => h("option", { value: word }, label ?? word));
    const select = h("select", common, choices);
    select.value = value || options[0][0];
    return select;
  }
  if (kind === "long") {
    const area = h("textarea", { ...common, rows: field.rows ?? 4, class: "mono" });
    area.value = value;
    return area;
  }
  const input = h("input", { ...common, type: kind, placeholder: field.placeholder });
  if (kind === "checkbox") input.checked = Boolean(value);
  else input.value = value;
  return input;
}

function row(field) {
  if (field.node) return field.node;
  const input = control(field);
  if (field.kind !== "checkbox") return labelled(field.label, input, field.hint);
  return h("label", { class: "check" }, input, h("span", null, field.label));
}

/** What the controls of a form hold, by their names. */
function valuesOf(form) {
  const values = {};
  for (const input of form.elements) {
    if (input.name) values[input.name] = input.type === "checkbox" ? input.checked : input.value;
  }
  return values;
}

/**
 * A form in a dialog.
 *
 * act(values) does it, and returns what to say then; if it raises, the error is shown and the
 * dialog stays. preview(values), where it is given, returns { nodes, plan } for a change of the
 * fields: what is shown, and what act(values, plan) is to do then, whatever has come since.
 */
export function form({ title, intro, fields = [], submit, danger, act, preview, wide }) {
  const error = h("p", { class: "error", role: "alert" });
  const shown = h("div", { class: "preview", role: "status" });
  const go = h("button", { type: "submit", class: danger ? "danger" : "primary" }, submit);
  const cancel = button("Cancel", () => dialog.close());
  const body = h("form", { novalidate: true }, intro, fields.map(row), preview ? shown : null, error,
    h("div", { class: "actions" }, cancel, go));
  const dialog = shell(title, body);
  if (wide) dialog.classList.add("wide");
  body.addEventListener("submit", (event) => {
    event.preventDefault();
    carryOut({ body, go, error, dialog, act: (values) => act(values, followed?.plan) });
  });
  const followed = preview ? follow(body, shown, go, preview) : null;
  dialog.showModal();
  (body.querySelector("input, select, textarea") ?? cancel).focus();
  return dialog;
}

async function carryOut({ body, go, error, dialog, act }) {
  setText(error, "");
  go.disabled = true;
  try {
    const said = await act(valuesOf(body));
    dialog.close();
    if (said) tell(said);
  } catch (failure) {
    setText(error, failure.message);
  } finally {
    go.disabled = false;
  }
}

const TYPING_MS = 150;

/** Keep the preview of a form up to date; without one, nothing can be carried out. Holds its plan. */
function follow(body, shown, go, preview) {
  const followed = { plan: null };
  let turn = 0;
  let timer = 0;
  const update = async () => {
    turn += 1;
    const mine = turn;
    try {
      const found = await preview(valuesOf(body));
      if (mine !== turn) return;
      arrange(shown, [found?.nodes].flat().filter(Boolean));
      followed.plan = found?.plan;
      go.disabled = !found;
    } catch (failure) {
      if (mine !== turn) return;
      clear(shown);
      shown.append(h("p", { class: "error" }, failure.message));
      go.disabled = true;
    }
  };
  body.addEventListener("input", () => {
    go.disabled = true;
    turn += 1;
    clearTimeout(timer);
    timer = setTimeout(update, TYPING_MS);
  });
  go.disabled = true;
  update();
  return followed;
}

/** Ask before something is lost. *losses* name what that is. */
export function confirm({ title, losses, note, submit, act }) {
  const list = losses.length
    ? [h("p", null, "This will be lost:"), h("ul", { class: "losses" }, losses.map((loss) => h("li", null, loss)))]
    : [h("p", null, "Nothing else is lost.")];
  return form({ title, intro: [list, note ? h("p", { class: "soft" }, note) : null], submit, danger: true, act });
}
