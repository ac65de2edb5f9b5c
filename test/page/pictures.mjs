// The pictures of docs/page.md and of the README: small, with few colours, and the same each time the page is.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withPalette } from './png.mjs';

const folder = 'docs/pictures';

const pictures = [
  { name: 'lab-split-brain', fragment: '#story=split-brain/bully&at=6', size: { width: 1280, height: 760 } },
  { name: 'lab-compare', fragment: '#story=raft/transfer&compare=quorum&at=211.4', size: { width: 1280, height: 800 } },
  { name: 'lab-interfere', fragment: '#story=ring/six-n3-starts&at=3', size: { width: 1280, height: 800 }, theme: 'dark', node: '80' },
  { name: 'lab-phone', fragment: '#story=bully/3-notices-6&at=1.5', size: { width: 390, height: 780 } },
];

export async function takePictures(browser) {
  mkdirSync(folder, { recursive: true });
  for (const { name, fragment, size, theme, node } of pictures) {
    const page = await browser.open(fragment, { viewport: size, colorScheme: theme ?? 'light', reducedMotion: 'reduce' });
    if (node) await page.click(`[aria-label^="Node ${node}:"]`);
    await page.read('.facts');
    const path = join(folder, `${name}.png`);
    writeFileSync(path, withPalette(await page.screenshot()));
    await page.finish();
    console.log(path);
  }
}
