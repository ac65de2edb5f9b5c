// A few lines instead of a framework. Data reaches the page only as text and as attributes that run nothing.

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function draw(tag: string, attributes: Record<string, string | number> = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** Writes only what changed, so that screen readers and the layout are left in peace. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A line that breaks within `--url` would be misread: options stay whole. */
export function sayCommand(element: Element, text: string): void {
  if (element.textContent === text) return;
  const words = text.split(' ').map((word) => (word.startsWith('--') ? make('span', {}, word) : word));
  element.replaceChildren(...words.flatMap((word, i) => (i ? [' ', word] : [word])));
}

export function mark(element: HTMLElement, name: string, value: string): void {
  if (element.dataset[name] !== value) element.dataset[name] = value;
}

/** As many children as there are items; each is made once, and filled in whenever the items change. */
export function repeat<T, E extends HTMLElement>(parent: HTMLElement, items: T[], create: () => E, fill: (element: E, item: T, index: number) => void): void {
  while (parent.children.length > items.length) parent.lastElementChild?.remove();
  items.forEach((item, index) => {
    if (index === parent.children.length) parent.append(create());
    fill(parent.children[index] as E, item, index);
  });
}

/** A row of a table; the first cell is its head. */
export function row(cells: number): HTMLTableRowElement {
  const element = make('tr', {}, make('th', { scope: 'row' }));
  for (let i = 1; i < cells; i++) element.append(make('td'));
  return element;
}

export function fillRow(element: HTMLTableRowElement, texts: string[]): void {
  texts.forEach((text, i) => say(element.cells[i]!, text));
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // without TLS, browsers have only the old way
    const area = make('textarea', { readonly: '', class: 'off' });
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}

/** A command, and a button that copies it. */
export function command(code: HTMLElement, name: string): void {
  const button = make('button', { type: 'button', 'aria-label': `Copy the command: ${name}` }, 'Copy');
  let timer = 0;
  button.addEventListener('click', () => {
    void copy(code.textContent ?? '').then((isDone) => {
      button.textContent = isDone ? 'Copied' : 'Failed';
      clearTimeout(timer);
      timer = window.setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
  });
  code.after(button);
}
