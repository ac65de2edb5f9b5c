// The settings of a run as a form. The script is the truth: the form shows what it says, and each field changes its line.
import { Algorithm, Catalogue, Option } from '../shared/engine';
import { make, selectFrom } from './dom';
import { begun, changed, valueOf, valuesOf, withOption, withValue, without } from './script';

interface Field { key: string; label: string; hint: string; placeholder: string }

const fields: Field[] = [
  { key: 'ids', label: 'Ids, in ring order', hint: '', placeholder: '3,32,5,80,6,12' },
  { key: 'initiator', label: 'Who calls the election', hint: 'ids, with @T for a later time; or all, none', placeholder: 'the first' },
  { key: 'leader', label: 'Leader at the start', hint: '', placeholder: 'nobody' },
  { key: 'attr', label: 'Attributes that count before ids', hint: '', placeholder: '5=10,3=7' },
];
const network: Field[] = [
  { key: 'delay', label: 'Delay', hint: '', placeholder: '1' },
  { key: 'loss', label: 'Loss', hint: '', placeholder: '0 %' },
  { key: 'dup', label: 'Duplicates', hint: '', placeholder: '0 %' },
  { key: 'reorder', label: 'Reordering', hint: '', placeholder: '0 %' },
];
const rest: Field[] = [
  { key: 'crash', label: 'Crashes', hint: '', placeholder: '80@3.5' },
  { key: 'partition', label: 'Partition', hint: '', placeholder: '1,2|3,4,5@10' },
  { key: 'seed', label: 'Seed', hint: '', placeholder: '1' },
  { key: 'until', label: 'Stop at', hint: '', placeholder: 'the end' },
];

const familyOf = (algorithm: Algorithm): string => algorithm.ring ? 'Rings' : algorithm.majority ? 'Majorities' : 'Everybody knows everybody';

export function algorithmOptions(catalogue: Catalogue): HTMLOptGroupElement[] {
  const families = [...new Set(catalogue.algorithms.map(familyOf))];
  return families.map((family) => make('optgroup', { label: family },
    ...catalogue.algorithms.filter((each) => familyOf(each) === family).map((each) => make('option', { value: each.name }, each.name))));
}

/** `tell` says what was done besides what was asked for. */
export interface SetupActions { apply(text: string, isNew: boolean): void; complain(text: string): void; tell(text: string): void }

/** So many nodes whose beats never end are watched for a while only: their whole run is too long for a page. */
const beatingNodesMax = 40, watched = 1000, nodesMax = 64;

export class Setup {
  private readonly form = make('form', { class: 'form', 'aria-label': 'Settings' });
  private readonly algorithm = make('select', { id: 'algorithm' });
  private readonly nodes = make('input', { type: 'number', min: '2', max: '64', id: 'nodes' });
  private readonly detector: HTMLSelectElement;
  private readonly delayOfDetector = make('input', { id: 'detect', placeholder: '2' });
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly idea = make('p', { class: 'idea' });
  private readonly own = make('div', { class: 'form' });
  private text = '';
  private count = 0;

  constructor(host: HTMLElement, private readonly catalogue: Catalogue, private readonly actions: SetupActions) {
    this.algorithm.append(...algorithmOptions(catalogue));
    this.detector = selectFrom([{ value: 'none', label: 'nobody notices' }, { value: 'after', label: 'notice after …' },
      ...catalogue.detectors.map((each) => ({ value: each.name, label: each.name }))], { id: 'detector' });
    this.form.append(
      make('label', {}, 'Algorithm', this.algorithm), this.idea,
      make('label', {}, 'Nodes', this.nodes), ...fields.map((field) => this.makeField(field)),
      make('div', { class: 'two' }, make('label', {}, 'Failure detector', this.detector), make('label', {}, 'Delay, or its options', this.delayOfDetector)),
      make('div', { class: 'two' }, ...network.map((field) => this.makeField(field))),
      make('details', { class: 'more' }, make('summary', {}, 'Faults, seed, end'), make('div', { class: 'two' }, ...rest.map((field) => this.makeField(field)))),
      make('details', { class: 'more' }, make('summary', {}, 'Options of this algorithm'), this.own));
    host.append(this.form);
    this.form.addEventListener('submit', (event) => event.preventDefault());
    this.algorithm.addEventListener('change', () => this.open(withDefaults(begun(this.text, this.algorithm.value), this.find(this.algorithm.value)), true));
    this.nodes.addEventListener('change', () => this.changeNodes());
    this.detector.addEventListener('change', () => this.changeDetector());
    this.delayOfDetector.addEventListener('change', () => this.changeDetector());
  }

  private find(name: string): Algorithm | undefined {
    return [...this.catalogue.algorithms, ...this.catalogue.deciders].find((each) => each.name === name);
  }

  private change(text: string): void {
    this.open(changed(text), false);
  }

  private changeNodes(): void {
    const count = Number(this.nodes.value);
    if (Number.isInteger(count) && count >= 2 && count <= nodesMax) return this.change(withValue(without(this.text, 'ids'), 'nodes', String(count)));
    this.nodes.value = String(this.count);
    this.actions.complain(`The page shows 2 to ${nodesMax} nodes; elector sim has no such limit.`);
  }

  private open(text: string, isNew: boolean): void {
    const algorithm = this.find(valueOf(text, 'algorithm') ?? ''), ids = valueOf(text, 'ids');
    const count = ids ? ids.split(',').length : Number(valueOf(text, 'nodes') ?? 0);
    const isLong = algorithm?.beats && count > beatingNodesMax && valueOf(text, 'until') === undefined;
    if (!isLong) return this.actions.apply(text, isNew);
    const until = `${watched}${/[a-z]s?$/.test(valueOf(text, 'delay') ?? '') ? 'ms' : ''}`;
    this.actions.apply(withValue(text, 'until', until), isNew);
    this.actions.tell(`Heartbeats of ${count} nodes are many messages: the run stops at ${until}. “Stop at” changes that.`);
  }

  private makeField({ key, label, hint, placeholder }: Field): HTMLElement {
    const input = make('input', { placeholder, id: `set-${key}`, autocomplete: 'off', spellcheck: 'false' });
    this.inputs.set(key, input);
    input.addEventListener('change', () => {
      const text = key === 'ids' && input.value.trim() !== '' ? without(this.text, 'nodes') : this.text;
      this.change(withValue(text, key, input.value.trim().replace(/\s*%$/, '%')));
    });
    const field = make('label', {}, label, input);
    if (hint) field.append(make('small', {}, hint));
    return field;
  }

  private changeDetector(): void {
    const name = this.detector.value, value = this.delayOfDetector.value.trim();
    const text = without(this.text, 'detect', 'detector');
    if (name === 'none') this.change(text);
    else if (name === 'after') this.change(withValue(text, 'detect', value === '' || value.includes('=') ? '2' : value));
    else this.change(withValue(text, 'detector', value === '' || /^[0-9.]+$/.test(value) ? name : `${name}:${value}`));
  }

  /** A record can be read here; another algorithm begins a new run with its members. */
  show(text: string, count: number, isRecord: boolean): void {
    this.text = text;
    this.count = count;
    const algorithm = this.find(valueOf(text, 'algorithm') ?? '');
    this.algorithm.value = algorithm?.name ?? '';
    this.nodes.value = String(count);
    for (const [key, input] of this.inputs) input.value = valuesOf(text, key).join(',');
    const machine = valueOf(text, 'detector'), detect = valueOf(text, 'detect');
    this.detector.value = machine ? machine.split(':')[0] : detect ? 'after' : 'none';
    this.delayOfDetector.value = machine ? machine.split(':').slice(1).join(':') : detect ?? '';
    this.idea.replaceChildren(algorithm ? `${algorithm.idea}` : '', make('cite', {}, algorithm?.reference ?? ''));
    this.own.replaceChildren(...(algorithm?.options ?? []).map((option) => this.makeOption(option)));
    if (!algorithm?.options.length) this.own.append(make('small', {}, 'It has none.'));
    for (const field of this.form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input, select')) field.disabled = isRecord && field !== this.algorithm;
  }

  private makeOption(option: Option): HTMLElement {
    const set = valuesOf(this.text, 'set').find((value) => value.startsWith(`${option.name}=`))?.slice(option.name.length + 1) ?? '';
    const choices = option.kind === 'flag' ? ['on', 'off'] : option.kind === 'choice' ? option.choices.split('|') : [];
    const input = choices.length
      ? selectFrom([{ value: '', label: `default (${option.preset})` }, ...choices.map((value) => ({ value, label: value }))])
      : make('input', { placeholder: option.preset });
    input.value = set;
    input.addEventListener('change', () => this.change(withOption(this.text, option.name, input.value.trim())));
    return make('label', {}, option.name, input, make('small', {}, option.help));
  }
}

/** Elections that do not beat notice nothing by themselves; with a detector, a crash or a partition has consequences. */
export function withDefaults(text: string, algorithm: Algorithm | undefined): string {
  const noticed = valueOf(text, 'detect') !== undefined || valueOf(text, 'detector') !== undefined;
  return !algorithm || algorithm.beats || noticed ? text : withValue(text, 'detect', '2');
}
