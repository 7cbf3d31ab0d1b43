/** Helpers that make, find and change elements. */

type Child = Node | string | undefined;

/** An element with attributes (`true`: without a value; `undefined` or `false`: none) and children. */
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

/** The element with this id. Throws if the page has none. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Sets text only if it changed: setting it causes a new layout, and screen readers announce it. */
export function setText(of: Element, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** A square in the colour of the player that it stands in. */
export function swatch(): HTMLSpanElement {
  return element('span', { class: 'swatch', 'aria-hidden': 'true' });
}

export function button(
  run: () => void,
  attributes: Record<string, string | boolean>,
  ...children: Child[]
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, ...children);
  made.addEventListener('click', run);
  return made;
}

/** A list that calls `choose` with the value that the viewer chose. */
export function select(attributes: Record<string, string>, choose: (value: string) => void): HTMLSelectElement {
  const made = element('select', attributes);
  made.addEventListener('change', () => choose(made.value));
  return made;
}

/** Lets the browser handle input and draw before the caller continues. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

export function options(choices: readonly { value: string; label: string }[], chosen: string): HTMLOptionElement[] {
  return choices.map(({ value, label }) => element('option', { value, selected: value === chosen }, label));
}
