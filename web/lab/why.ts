// The chain of causes as a list: a click on one goes there.
import { Scene } from '../shared/scene';
import { button, make } from './dom';
import { whyOf } from './words';

export function whyList(scene: Scene, go: (record: number) => void): HTMLElement {
  const { run } = scene, chain = whyOf(run, scene.cursor);
  if (chain.length === 0) return make('p', {}, 'Nothing has happened yet.');
  return make('ol', {}, ...chain.map(({ record, text }) => make('li', {}, button(`${run.timeText(run.records.time(record))}  ${text}`, () => go(record)))));
}
