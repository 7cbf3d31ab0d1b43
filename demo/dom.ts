/** Makes and finds elements. */

type Child = Node | string | undefined;

/** An element with attributes (`true` for one without a value, `undefined` to leave it out) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** The element with this id. Throws where the page lacks it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Sets text only where it changes, so that nothing is laid out or read out again for nothing. */
export function setText(of: Element, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Lets the browser do what waits, input and drawing among it. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** An `<option>` per value, the chosen one selected. */
export function options(choices: readonly { value: string; label: string }[], chosen: string): HTMLOptionElement[] {
  return choices.map(({ value, label }) => element('option', { value, selected: value === chosen }, label));
}
