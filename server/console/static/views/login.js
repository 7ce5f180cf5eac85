// The log-in: a user of the server and the password. Afterwards the view of the link is shown.

import { logIn } from "../api.js";
import { h, labelled, setText } from "../dom.js";

export function showLogin(root, why, enter) {
  const user = h("input", { name: "username", autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true });
  user.value = "default";
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password" });
  const error = h("p", { class: "error", role: "alert" });
  const go = h("button", { type: "submit", class: "primary" }, "Log in");
  const submit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    const refusal = await logIn(user.value, password.value).catch((failure) => failure.message);
    go.disabled = false;
    if (refusal === null) {
      enter();
      return;
    }
    setText(error, refusal);
    password.select();
    password.focus();
  };
  document.title = "Log in · Penstock";
  root.replaceChildren(h("form", { class: "login", onsubmit: submit },
    h("h1", null, "Log in"), why ? h("p", { class: "soft" }, why) : null,
    labelled("User", user), labelled("Password", password), error, go));
  password.focus();
}
