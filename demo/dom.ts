/** Functions that make, find and change elements. */

type Child = Node | string | undefined;

/** Makes an element. An attribute that is `true` has no value; `undefined` and `false` mean no attribute. */
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

/** Finds the element with this id. Throws if the page has no element with it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** Sets text only if it changed: a new text causes a layout, and screen readers announce it. */
export function setText(of: Element, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Returns the style of an element in the colour and with the dashes of a player, by its place from 0. */
export function styleOfPlace(place: number): string {
  return `--player: var(--player-${place}); --dash: ${['solid', 'dashed', 'dotted', 'double'][place]}`;
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

/** Makes a list that calls `choose` with the value that the viewer chose. */
export function select(attributes: Record<string, string>, choose: (value: string) => void): HTMLSelectElement {
  const made = element('select', attributes);
  made.addEventListener('change', () => choose(made.value));
  return made;
}

/** Resolves in a later task, so that the browser can handle input and draw. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

export function options(choices: readonly { value: string; label: string }[], chosen: string): HTMLOptionElement[] {
  return choices.map(({ value, label }) => element('option', { value, selected: value === chosen }, label));
}
