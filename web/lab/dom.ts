// A few lines instead of a framework.

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string | boolean> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** Says it only if it changed, so that a screen reader and the layout are left in peace. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function button(label: string, act: () => void, attributes: Record<string, string | boolean> = {}): HTMLButtonElement {
  const element = make('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', act);
  return element;
}

export function selectFrom(options: { value: string; label: string }[], attributes: Record<string, string> = {}): HTMLSelectElement {
  return make('select', attributes, ...options.map(({ value, label }) => make('option', { value }, label)));
}

/** A canvas as sharp as the screen, in CSS pixels. */
export class Canvas {
  readonly element = make('canvas');
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor(private readonly host: HTMLElement, resized: () => void) {
    const context = this.element.getContext('2d');
    if (!context) throw new Error('this browser draws no canvas');
    this.context = context;
    host.append(this.element);
    new ResizeObserver(() => { if (this.fit()) resized(); }).observe(host);
  }

  /** To the size of its host; true if that has changed. A canvas that is fitted is empty. */
  fit(): boolean {
    const { clientWidth, clientHeight } = this.host, scale = Math.min(window.devicePixelRatio || 1, 2);
    if (clientWidth === this.width && clientHeight === this.height) return false;
    this.width = clientWidth;
    this.height = clientHeight;
    this.element.width = Math.round(this.width * scale);
    this.element.height = Math.round(this.height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    return true;
  }

  at(event: PointerEvent | MouseEvent): [number, number] {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}
