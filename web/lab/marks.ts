// Where leaders come, promises break and deeds are done, above the slider.
import { What } from '../shared/records';
import { Run } from '../shared/run';
import { find, make } from './dom';

const marksMax = 300;

export function drawMarks(run: Run, end: number): void {
  const marks = find('marks'), r = run.records;
  marks.replaceChildren();
  if (!end) return;
  const put = (time: number, name: string) => {
    const mark = make('i', name ? { class: name } : {});
    mark.style.left = `${time / end * 100}%`;
    if (marks.childElementCount < marksMax) marks.append(mark);
  };
  for (let i = 1; i <= run.count; i++) {
    const what = r.what(i);
    if (what === What.violated) put(r.time(i), 'violation');
    else if (what >= What.crashed && what <= What.healed) put(r.time(i), 'deed');
  }
  for (const record of run.leads) put(r.time(record), '');
}
