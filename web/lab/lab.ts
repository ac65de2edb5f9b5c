// The laboratory: one script, one run or two, one clock, and the views of them. Everything below is wiring; start with `show`.
import { Engine, RawRun, ScenarioError } from '../shared/engine';
import { Run } from '../shared/run';
import { Scene } from '../shared/scene';
import { Clock, speeds } from './clock';
import { Diagram } from './diagram';
import { find, make, say } from './dom';
import { Editor } from './editor';
import { asScenario, download, exportItems } from './exports';
import { Facts } from './facts';
import { Ink, readInk } from './ink';
import { Deed, carryOut, heal, linkMenu, momentAfter, momentText, nodeMenu, note, partition } from './interfere';
import { openHelp } from './help';
import { wireKeys } from './keys';
import { LinkError, Place, readLink, writeLink } from './link';
import { drawMarks } from './marks';
import { closeMenu, openMenu } from './menu';
import { forAlgorithm, storyOf, valueOf, valuesOf } from './script';
import { Setup, algorithmOptions } from './setup';
import { Stage } from './stage';
import { Stories, StoryList, titleOf } from './stories';
import { wireTabs } from './tabs';
import { Trace, TraceError, looksLikePage, looksLikeRecording, looksLikeTrace, openTrace, openedIn, traceAbout } from './trace';
import { whyList } from './why';
import { captionAt } from './words';

const firstStory = 'ring/six-n3-starts';
const ofRecords = 'This is a record of what happened: it cannot be changed.';

/** One run with its views. */
interface Pane { element: HTMLElement; scene: Scene; stage: Stage; diagram: Diagram; facts: Facts }

/** What undo goes back to. */
interface Version { text: string; story: string | undefined; trace: Trace | undefined; time: number }

export class Lab {
  private text = '';
  private story: string | undefined;
  private trace: Trace | undefined;
  private compared = '';
  private panes: Pane[] = [];
  private clock: Clock | undefined;
  private past: Version[] = [];
  private future: Version[] = [];
  private ink: Ink = readInk();
  private dirty = true;
  private captioned = '';
  private readonly list: StoryList;
  private readonly setup: Setup;
  private readonly editor: Editor;

  /** `home`: the recording that this page was made of, if it was. */
  constructor(private readonly engine: Engine, private readonly stories: Stories, private readonly home: Trace | undefined) {
    this.list = new StoryList(find('stories'), stories, (name) => this.go(this.stories[name], name));
    this.setup = new Setup(find('setup'), engine.catalogue, {
      apply: (text, isNew) => this.change(text, 0, isNew ? undefined : this.story),
      complain: (text) => this.complain(text), tell: (text) => this.tellUser(text),
    });
    this.editor = new Editor(find('script'), {
      apply: (text) => this.change(text, this.clock?.time ?? 0, this.story),
      undo: () => this.goBack(), redo: () => this.goForward(), save: () => this.save(), heal: () => this.carryOut(heal),
    });
    this.wireHeader();
    this.wireDeck();
    this.wireKeys();
    wireTabs(['stories', 'setup', 'script']);
    const frame = (now: number) => { this.frame(now); requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  // ---- Which run is shown ----

  /** Begins with what the address says; otherwise with the page's own recording, or with the ring of the lectures. */
  begin(fragment: string): void {
    let place: Place = { embed: false };
    let mistake = '';
    try {
      place = readLink(fragment);
      if (place.story !== undefined && !(place.story in this.stories)) throw new LinkError(`permalink: there is no story '${place.story.slice(0, 60)}'`);
      if (place.compare && !this.engine.algorithm(place.compare)) throw new LinkError(`permalink: there is no algorithm '${place.compare.slice(0, 40)}'`);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      mistake = error.message;
      place = { embed: place.embed };
    }
    if (mistake && this.panes.length > 0) return this.complain(`${mistake}. The run below is as it was.`);
    const compared = this.compared, name = place.story ?? firstStory;
    this.compareWith(place.compare ?? '');
    const shown = place.scenario !== undefined ? this.go(place.scenario, undefined, 'permalink')
      : this.home && place.story === undefined ? this.goTrace(this.home) : this.go(this.stories[name], name);
    if (!shown && this.panes.length > 0) return this.compareWith(compared);
    document.body.classList.toggle('embed', place.embed);
    if (!shown) {
      mistake ||= find('message').querySelector('span')?.textContent ?? '';
      this.go(this.stories[firstStory], firstStory);
    }
    if (mistake) this.complain(mistake);
    if (place.at !== undefined && this.clock) this.clock.seek(Math.round(place.at * this.unit));
  }

  private compareWith(name: string): void {
    this.compared = find<HTMLSelectElement>('compare').value = name;
  }

  /** Nanoseconds of what times are written in: delays, or milliseconds. */
  private get unit(): number { return this.run?.about.inUnits ? this.run.about.unit : 1e6; }
  private get run(): Run | undefined { return this.panes[0]?.scene.run; }

  private version(): Version {
    return { text: this.text, story: this.story, trace: this.trace, time: this.clock?.time ?? 0 };
  }

  /** Shows another run, from its beginning. If it has a mistake, all is as it was, undo and redo too. */
  private go(text: string, story: string | undefined, source = 'script'): boolean {
    const before = this.version();
    if (!this.show(text, story, 0, source)) return false;
    this.remember(before);
    return true;
  }

  /** A changed script: what was before can be had back. */
  private change(text: string, time: number, story: string | undefined): void {
    const before = this.version();
    if ((text === this.text && !this.trace) || !this.show(text, story, time)) return;
    this.remember(before);
  }

  private remember(before: Version): void {
    if (before.text) this.past.push(before);
    this.future = [];
    this.showScript();
  }

  private goBack(): void {
    const version = this.past.pop();
    if (!version) return;
    this.future.push(this.version());
    this.showVersion(version);
  }

  private goForward(): void {
    const version = this.future.pop();
    if (!version) return;
    this.past.push(this.version());
    this.showVersion(version);
  }

  private showVersion({ text, story, trace, time }: Version): void {
    if (trace) this.showTrace(trace, time); else this.show(text, story, time);
  }

  private goTrace(trace: Trace): boolean {
    const before = this.version();
    if (!this.showTrace(trace, 0)) return false;
    this.remember(before);
    return true;
  }

  /** A run that was recorded elsewhere. If the records have a mistake, says so, and leaves everything as it was. */
  private showTrace(trace: Trace, time: number): boolean {
    let raw: RawRun;
    try {
      raw = openTrace(this.engine, trace.name, trace.text, trace.recorded);
    } catch (error) {
      if (!(error instanceof TraceError) && !(error instanceof ScenarioError)) throw error;
      this.complain(error.message);
      return false;
    }
    this.text = `algorithm ${raw.description.algorithm}\nids ${raw.description.members.map(({ id }) => id).join(',')}\n`;
    this.story = undefined;
    this.compareWith('');
    this.trace = trace;
    this.settle();
    this.build(raw, time);
    return true;
  }

  /** Shows the run of this script. If the script has a mistake, says so, and leaves everything as it was. */
  private show(text: string, story: string | undefined, time: number, source = 'script'): boolean {
    let raw: RawRun;
    try {
      raw = this.engine.open(source, text);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      this.complain(error.message.startsWith(source) ? error.message : `${source}: ${error.message}`);
      this.editor.complain(text, error.message);
      return false;
    }
    this.text = text;
    this.story = story;
    this.trace = undefined;
    this.settle();
    this.build(raw, time);
    return true;
  }

  private build(raw: RawRun, time: number): void {
    closeMenu();
    for (const pane of this.panes) pane.scene.run.close();
    const host = find('panes');
    this.panes = [this.makePane(raw)];
    const failure = this.compared ? this.addSecond() : undefined;
    host.replaceChildren(...this.panes.map((pane) => pane.element), ...(failure ? [failure] : []));
    host.classList.toggle('two', this.compared !== '');
    find('deck').classList.toggle('two', this.compared !== '');
    for (const { stage, diagram } of this.panes) { stage.settle(); diagram.settle(); }
    const speed = this.clock?.speed ?? 1;
    this.clock = new Clock(this.panes.map((pane) => pane.scene), () => { this.dirty = true; });
    this.clock.speed = speed;
    this.clock.seek(time);
    this.readTheme();
    if (this.run) {
      drawMarks(this.run, this.clock.end);
      find('when').style.minWidth = `max(92px, ${captionAt(this.run, 0, this.clock.end).time.length}ch)`; // the longest: the caption beside it stays where it is
    }
    this.showScript();
    if (raw.description.groups) this.tellUser(`One of ${raw.description.groups} groups is shown; the transcript has all of them.`);
  }

  private addSecond(): HTMLElement | undefined {
    try {
      this.panes.push(this.makePane(this.engine.open('script', forAlgorithm(this.text, this.compared))));
      return undefined;
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      return make('section', { class: 'pane' }, make('p', { class: 'failed' }, `${this.compared}: ${error.message}`));
    }
  }

  private makePane(raw: RawRun): Pane {
    const algorithm = this.engine.algorithm(raw.description.algorithm);
    if (!algorithm) throw new ScenarioError(`there is no algorithm ${raw.description.algorithm}`);
    const run = new Run(raw, algorithm), scene = new Scene(run), redraw = () => { this.dirty = true; };
    const stage = new Stage(scene, {
      node: (node, at) => this.openNodeMenu(scene, node, at),
      link: (a, b, at) => this.openLinkMenu(scene, a, b, at),
      partition: (side, other) => this.carryOut(partition(run, side, other)),
    }, redraw);
    const diagram = new Diagram(run, (time) => { if (this.clock) { this.clock.playing = false; this.clock.seek(time); } }, redraw);
    const facts = new Facts(scene, this.engine.catalogue.promises);
    const header = make('header', {}, make('h2', {}, algorithm.name), make('p', {}, algorithm.summary));
    return { element: make('section', { class: 'pane', 'aria-label': algorithm.name }, header, stage.element, diagram.element, facts.element), scene, stage, diagram, facts };
  }

  private showScript(): void {
    this.setup.show(this.text, this.run?.nodes ?? 0, this.trace !== undefined);
    this.list.show(this.story, this.trace ? traceAbout(this.trace) : storyOf(this.text));
    const open = valuesOf(this.text, 'partition').some((value) => !value.includes('..'));
    this.editor.show(this.trace ? undefined : this.text, this.past.length > 0, this.future.length > 0, open && !this.trace);
    const isChanged = this.story !== undefined && this.text !== this.stories[this.story];
    const title = this.trace ? this.trace.name : titleOf(this.text, this.story, isChanged);
    find('title').replaceChildren(make('b', {}, title), this.compared ? ` beside ${this.compared}` : '');
    document.title = `${title} · Elector laboratory`;
  }

  // ---- Interference ----

  private openNodeMenu(scene: Scene, node: number, at: DOMRect): void {
    const { run } = scene, moment = this.moment(scene);
    if (this.trace) return openMenu(`Node ${run.name(node) || run.id(node)}`, [note(ofRecords)], at);
    const pauseEnd = momentText(run, moment + (run.algorithm.beats ? 500 : 20) * run.about.delayMax);
    openMenu(`Node ${run.id(node)}`, nodeMenu(scene, node, pauseEnd, (deed) => this.carryOut(deed), (peer) => this.openLinkMenu(scene, node, peer, at)), at);
  }

  private openLinkMenu(scene: Scene, a: number, b: number, at: DOMRect): void {
    const { run } = scene;
    openMenu(`Link ${run.id(a)} – ${run.id(b)}`, this.trace ? [note(ofRecords)] : linkMenu(scene, a, b, (deed) => this.carryOut(deed)), at);
  }

  private moment(scene: Scene): number {
    return momentAfter(scene.run, scene.cursor, this.clock?.time ?? 0);
  }

  private carryOut(deed: Deed): void {
    const scene = this.panes[0]?.scene;
    if (!scene || this.trace) return this.complain(ofRecords);
    if (scene.run.about.scripted) return this.complain('This run is scripted move by move. Change its steps in the script.');
    const moment = this.moment(scene), playing = this.clock?.playing ?? false;
    this.change(carryOut(scene.run, this.text, deed, moment), moment, this.story);
    if (this.clock && playing) this.clock.toggle();
  }

  // ---- Frames ----

  private frame(now: number): void {
    this.clock?.tick(now);
    if (!this.dirty || !this.clock) return;
    this.dirty = false;
    for (const pane of this.panes) {
      pane.stage.draw(this.clock.time, this.ink);
      pane.diagram.draw(this.clock.time, this.ink);
      pane.facts.draw();
    }
    this.drawDeck();
  }

  private drawDeck(): void {
    const { clock, run } = this, scene = this.panes[0]?.scene;
    if (!clock || !run || !scene) return;
    const caption = captionAt(run, scene.cursor, clock.time);
    say(find('when'), caption.time);
    const key = `${scene.cursor} ${this.panes[1]?.scene.cursor}`;
    if (this.captioned !== key) {
      this.captioned = key;
      const area = find('caption');
      area.setAttribute('aria-live', clock.playing ? 'off' : 'polite');
      const parts: (Node | string)[] = [make('b', {}, caption.headline), ` ${caption.rest}`];
      if (caption.alarm) parts.unshift(make('span', { class: 'alarm' }, `✕ ${caption.alarm} `));
      if (this.panes[1]) {
        const other = captionAt(this.panes[1].scene.run, this.panes[1].scene.cursor, clock.time);
        parts.push(make('br'), make('span', {}, `${this.compared}: `), make('b', {}, other.headline), ` ${other.rest}`);
      }
      area.replaceChildren(...parts);
    }
    const slider = find<HTMLInputElement>('slider');
    slider.value = String(clock.end ? Math.round(clock.time / clock.end * 100000) : 0);
    slider.setAttribute('aria-valuetext', caption.time);
    const play = find('play');
    play.classList.toggle('playing', clock.playing);
    play.setAttribute('aria-label', clock.playing ? 'Pause (space)' : 'Play (space)');
  }

  // ---- Messages to the reader ----

  private tellUser(text: string, bad = false): void {
    const message = find('message');
    message.hidden = false;
    message.classList.toggle('bad', bad);
    say(message.querySelector('span')!, text);
  }

  private complain(text: string): void { this.tellUser(text, true); }
  private settle(): void { find('message').hidden = true; }

  // ---- The header ----

  private wireHeader(): void {
    const compare = find<HTMLSelectElement>('compare');
    compare.append(make('option', { value: '' }, 'Compare …'), ...algorithmOptions(this.engine.catalogue));
    compare.addEventListener('change', () => {
      if (this.trace) {
        this.compareWith('');
        return this.complain('A trace is a record: nothing can be run beside it.');
      }
      this.compareWith(compare.value);
      this.show(this.text, this.story, this.clock?.time ?? 0);
    });
    find('message').querySelector('button')!.addEventListener('click', () => this.settle());
    const file = find<HTMLInputElement>('file');
    find('open').addEventListener('click', () => file.click());
    file.addEventListener('change', () => {
      const chosen = file.files?.[0];
      if (chosen) void chosen.text().then((text) => this.openFile(chosen.name, text));
      file.value = '';
    });
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
      event.preventDefault();
      const dropped = event.dataTransfer?.files[0];
      if (dropped) void dropped.text().then((text) => this.openFile(dropped.name, text));
    });
    find('export').addEventListener('click', () => this.openExports());
    find('share').addEventListener('click', () => void this.share(false));
    find('theme').addEventListener('click', () => this.changeTheme());
    find('help').addEventListener('click', openHelp);
    window.addEventListener('hashchange', () => { if (location.hash !== '#deck') this.begin(location.hash); });
  }

  /** A scenario, such as a counterexample of `elector check`, or a trace. */
  private openFile(name: string, text: string, about = '', recorded = false): void {
    if (looksLikePage(text)) {
      const opened = openedIn(text);
      if (!opened) return this.complain(`${name}: this page has no recording in it. \`elector replay --output page\` makes one that has.`);
      return this.openFile(opened.name, opened.text, opened.about, true);
    }
    if (looksLikeRecording(text))
      return this.complain(`${name}: an agent’s recording. This makes a page of it: elector replay --output page --group GROUP ${name} > recording.html`);
    if (!looksLikeTrace(text)) {
      this.go(text, undefined, name);
      return;
    }
    this.goTrace({ name, text, about, recorded });
  }

  private fileName(): string {
    return (this.story ?? valueOf(this.text, 'algorithm') ?? 'run').replace(/^.*\//, '');
  }

  private openExports(): void {
    const { run } = this, name = this.fileName();
    if (!run) return;
    openMenu('Export', exportItems(run, name, () => void this.share(true)), find('export').getBoundingClientRect());
  }

  private save(): void {
    const { run } = this;
    if (this.trace) return this.complain('A trace is a record, not a script; Export writes it.');
    if (run) download(`${this.fileName()}.scenario`, asScenario(run, this.text, titleOf(this.text, this.story, true)), 'text/plain');
  }

  private address(embed: boolean): string {
    const { clock } = this;
    const at = clock ? Number((clock.time / this.unit).toFixed(6)) : 0; // the last event, too, is at or before it
    if (this.trace) return location.href.split('#')[0] + writeLink({ embed, at });
    const untouched = this.story !== undefined && this.text === this.stories[this.story];
    const place: Place = { embed, compare: this.compared || undefined, at, ...(untouched ? { story: this.story } : { scenario: this.text }) };
    return location.href.split('#')[0] + writeLink(place);
  }

  private async share(embed: boolean): Promise<void> {
    if (this.trace && this.trace !== this.home) return this.complain('A trace is too long for a link; send the file.');
    const address = this.address(embed);
    if (embed) return this.copy(`<iframe src="${address}" width="960" height="640"></iframe>`, 'The <iframe> is copied.');
    history.replaceState(null, '', address);
    await this.copy(address, 'The link to this run, at this moment, is copied.');
  }

  private async copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.tellUser(done);
    } catch {
      this.tellUser(`Copy it from here: ${text}`);
    }
  }

  private changeTheme(): void {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('theme', root.dataset.theme); } catch { /* it is not kept */ }
    this.readTheme();
  }

  private readTheme(): void {
    this.ink = readInk();
    for (const pane of this.panes) pane.facts.paint(this.ink);
    this.dirty = true;
  }

  // ---- The deck ----

  private wireDeck(): void {
    const onClock = (act: (clock: Clock) => void) => () => { if (this.clock) act(this.clock); };
    find('first').addEventListener('click', onClock((clock) => { clock.playing = false; clock.seekRecord(0); }));
    find('back').addEventListener('click', onClock((clock) => clock.back()));
    find('play').addEventListener('click', onClock((clock) => clock.toggle()));
    find('forward').addEventListener('click', onClock((clock) => clock.forward()));
    find('last').addEventListener('click', onClock((clock) => { clock.playing = false; clock.seek(clock.end); }));
    find('next-leader').addEventListener('click', () => this.jump('leader'));
    find('next-violation').addEventListener('click', () => this.jump('violation'));
    find('why').addEventListener('click', () => this.openWhy());
    const slider = find<HTMLInputElement>('slider');
    slider.addEventListener('input', onClock((clock) => { clock.playing = false; clock.seek(Number(slider.value) / 100000 * clock.end); }));
    const speed = find<HTMLSelectElement>('speed');
    speed.append(...speeds.map((each) => make('option', { value: String(each) }, `${each}×`)));
    speed.value = '1';
    speed.addEventListener('change', onClock((clock) => { clock.speed = Number(speed.value); }));
  }

  private jump(what: 'leader' | 'violation'): void {
    const found = what === 'leader' ? this.clock?.nextLeader() : this.clock?.nextViolation();
    if (found === false) this.tellUser(what === 'leader' ? 'No further leader after this.' : 'No further violation after this.');
    else this.settle();
  }

  private openWhy(): void {
    const scene = this.panes[0]?.scene;
    if (!scene) return;
    const list = whyList(scene, (record) => { closeMenu(); this.clock?.seekRecord(record); });
    openMenu('How it came to this', [list, { label: 'Close', act: () => undefined }], find('why').getBoundingClientRect());
  }

  private wireKeys(): void {
    wireKeys({
      ArrowRight: () => this.clock?.forward(), ArrowLeft: () => this.clock?.back(), ' ': () => this.clock?.toggle(),
      Home: () => find('first').click(), End: () => find('last').click(),
      l: () => this.jump('leader'), v: () => this.jump('violation'), w: () => this.openWhy(),
    }, () => this.goBack(), () => this.goForward());
  }

  // ---- For tests ----

  /** The state as tests compare it. */
  probe(): Record<string, unknown> {
    const scene = this.panes[0]?.scene;
    return {
      text: this.text, time: this.clock?.time, cursor: scene?.cursor, records: scene?.run.count, hash: scene?.hash(), events: scene?.run.about.events,
      views: scene?.views(),
      leaders: scene?.leaders().map((node) => scene.run.id(node)), violated: scene?.state.violated, flight: scene?.state.flight.size,
      panes: this.panes.length, playing: this.clock?.playing, memory: this.engine.memoryBytes(), count: scene?.run.nodes,
    };
  }

  seek(time: number): void { this.clock?.seek(time); }
  transcript(name: string, text: string): string {
    const raw = this.engine.open(name, text);
    try { return raw.write('transcript'); } finally { raw.close(); }
  }
}
