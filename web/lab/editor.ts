// The script as text: read it, change it, undo, save it as a .scenario for `elector sim`.
import { button, make, say } from './dom';

export interface EditorActions { apply(text: string): void; undo(): void; redo(): void; save(): void; heal(): void }

export class Editor {
  private readonly area = make('textarea', { 'aria-label': 'The script of this run', spellcheck: 'false', id: 'script-text' });
  private readonly error = make('p', { class: 'error', role: 'alert' });
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly heal: HTMLButtonElement;
  private readonly run: HTMLButtonElement;
  private readonly saving: HTMLButtonElement;
  private clean = '';

  constructor(host: HTMLElement, actions: EditorActions) {
    this.undo = button('Undo', actions.undo, { id: 'undo' });
    this.redo = button('Redo', actions.redo, { id: 'redo' });
    this.heal = button('Heal the partition', actions.heal, { id: 'heal' });
    this.run = button('Run it', () => actions.apply(this.area.value), { class: 'main', id: 'run-script' });
    this.saving = button('Save .scenario', actions.save, { id: 'save' });
    host.append(make('div', { class: 'script' },
      make('p', { class: 'hint' }, 'What you do on the stage is written here. One setting a line, as in elector sim.'),
      this.area, this.error,
      make('div', { class: 'row' }, this.run, this.undo, this.redo, this.heal, this.saving)));
    this.area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !this.area.readOnly && (event.ctrlKey || event.metaKey)) actions.apply(this.area.value);
    });
  }

  /** Text that was typed and not yet run is not overwritten by the same script. Undefined: a record, which has none. */
  show(script: string | undefined, canUndo: boolean, canRedo: boolean, canHeal: boolean): void {
    const text = script ?? '# This is a record of what happened, and has no script.\n';
    this.area.readOnly = script === undefined;
    this.run.disabled = this.saving.disabled = script === undefined;
    if (this.clean !== text || this.area.value === '') this.area.value = text;
    this.clean = text;
    this.undo.disabled = !canUndo;
    this.redo.disabled = !canRedo;
    this.heal.disabled = !canHeal;
    say(this.error, '');
  }

  /** The mistake, with the cursor in its line. Text that was typed stays, also if the mistake is in a file or a link. */
  complain(text: string, mistake: string): void {
    say(this.error, mistake);
    if (this.area.value !== this.clean && this.area.value !== text) return;
    this.area.value = text;
    const line = Number(/:(\d+):\d+:/.exec(mistake)?.[1] ?? 0);
    if (line === 0) return;
    const lines = text.split('\n'), start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }
}
