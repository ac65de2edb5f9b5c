// What the keys do, and what the stage shows.
import { find, make } from './dom';
import { openMenu } from './menu';

const keys: [string, string][] = [['Space', 'play or pause'], ['← →', 'one step back or forward'], ['Home End', 'beginning, end'],
  ['L', 'next leader'], ['V', 'next violation'], ['W', 'why'], ['Ctrl Z', 'undo'], ['Esc', 'close a menu']];

export function openHelp(): void {
  const items = keys.map(([key, what]) => {
    const row = make('p');
    row.append(...key.split(' ').flatMap((each) => [make('kbd', {}, each), ' ']), what);
    return row;
  });
  items.push(make('p', {}, 'On the stage: click a node or a link to interfere; drag a line across to partition. The script records it. A crown leads, a ring around it is its lease, ? is suspected, a dashed circle is electing.'));
  openMenu('Help', [...items, { label: 'Close', act: () => undefined }], find('help').getBoundingClientRect());
}
