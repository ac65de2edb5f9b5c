// Whether two laboratory pages are the same but for their compression: another version of zlib packs the same bytes otherwise.
//   node web/same.mjs ONE OTHER
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const packed = /(<script type="application\/octet-stream" id="[^"]*">)([A-Za-z0-9+/=]+)(<\/script>)/g;
const unpack = (_, begin, bytes, end) => begin + inflateRawSync(Buffer.from(bytes, 'base64')).toString('base64') + end;
const [one, other] = process.argv.slice(2, 4).map((path) => readFileSync(path, 'utf8').replace(packed, unpack));
process.exit(one === other ? 0 : 1);
