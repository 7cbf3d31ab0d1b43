/** Messages at the top of the page, each under a name of its own so that it can be taken back. */

import { element } from './dom.ts';
import { icon } from './icons.ts';

export interface Notice {
  text: string;
  kind: 'error' | 'hint';
  /** A button beside the text. */
  action?: { label: string; run(): void };
}

export class Notices {
  readonly #host: HTMLElement;
  readonly #shown = new Map<string, { root: HTMLElement; text: string }>();

  constructor(host: HTMLElement) {
    this.#host = host;
  }

  show(name: string, { text, kind, action }: Notice): void {
    if (this.#shown.get(name)?.text === text) return;
    this.clear(name);
    const root = element('div', { class: `notice ${kind}` }, element('p', {}, text));
    const close = element('button', { type: 'button', class: 'quiet', 'aria-label': 'Dismiss' }, icon('cross'));
    close.addEventListener('click', () => this.clear(name));
    if (action !== undefined) {
      const button = element('button', { type: 'button' }, action.label);
      button.addEventListener('click', () => action.run());
      root.append(button);
    }
    root.append(close);
    this.#shown.set(name, { root, text });
    this.#host.append(root);
  }

  clear(name: string): void {
    this.#shown.get(name)?.root.remove();
    this.#shown.delete(name);
  }
}
