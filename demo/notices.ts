/** Shows messages at the top of the page. Each message has a name, by which it can be removed. */

import { button, element } from './dom.ts';

export interface Notice {
  text: string;
  kind: 'error' | 'hint';
  /** Label and function of a button beside the text. Default: no button. */
  action?: { label: string; run(): void };
}

export class Notices {
  private readonly _shown = new Map<string, { root: HTMLElement; text: string }>();

  constructor(private readonly _host: HTMLElement) {}

  show(name: string, { text, kind, action }: Notice): void {
    if (this._shown.get(name)?.text === text) return;
    this.clear(name);
    const root = element('div', { class: `notice ${kind}` }, element('p', {}, text));
    if (action !== undefined) root.append(button(() => action.run(), {}, action.label));
    root.append(button(() => this.clear(name), { class: 'quiet', 'aria-label': 'Dismiss' }, '×'));
    this._shown.set(name, { root, text });
    this._host.append(root);
  }

  clear(name: string): void {
    this._shown.get(name)?.root.remove();
    this._shown.delete(name);
  }
}
