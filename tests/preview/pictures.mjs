// Pictures of boards: for each state the Prometheus that holds its day, each board in a browser without a window.
//
//   node pictures.mjs FOLDER-OF-STATES FOLDER-OF-BOARDS FOLDER-OF-PICTURES PAGE STATE…
//
// PAGE is a page of the guide: the first row of the overview in each state, the picture within the text.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const [states, boards, pictures, guide, ...wanted] = process.argv.slice(2);
const BOARDS = ['overview', 'diagnosis', 'gate', 'replicas'];
// The last three hours of a simulated day.
const TO = 1_767_225_600 + 12_600;
const FROM = TO - 10_800;
const COLOURS = 112;
const FIRST_ROW = 10 * 38 + 4;
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json' };

async function prometheus(state, port) {
  const folder = join(states, state);
  const child = spawn('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    '--storage.tsdb.retention.time=100y',
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ], { stdio: ['ignore', 'ignore', 'inherit'] });
  process.on('exit', () => child.kill());
  for (let tries = 0; tries < 200; tries++) {
    const ready = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
    if (ready?.ok) return child;
    await pause(100);
  }
  child.kill();
  throw new Error(`no Prometheus on the day of ${state}: is ${folder} there?`);
}

/** The page, the boards, and the way to the Prometheus of the state that is drawn. */
function serve(upstream) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    try {
      if (path.startsWith('/api/')) {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await fetch(`http://127.0.0.1:${upstream.port}${path}`, { method: 'POST', body: Buffer.concat(chunks), headers });
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
        return;
      }
      const file = path.startsWith('/boards/') ? join(boards, path.slice('/boards/'.length)) : join('dist', path === '/' ? 'index.html' : path);
      const content = readFileSync(file);
      response.writeHead(200, { 'content-type': TYPES[file.split('.').pop()] ?? 'application/octet-stream' }).end(content);
    } catch (error) {
      response.writeHead(404).end(String(error));
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function drawn(browser, origin, board) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 800 } });
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  await page.goto(`${origin}/?board=${board}&from=${FROM}&to=${TO}`);
  const all = () => {
    const panels = [...document.querySelectorAll('[data-panel]')];
    return panels.length > 0 && panels.every((panel) => panel.dataset.ready === '1');
  };
  await page.waitForFunction(all, null, { timeout: 60_000 }).catch((error) => wrong.push(String(error)));
  wrong.push(...(await page.$$eval('[data-panel]', (panels) => panels.map((panel) => panel.dataset.error).filter(Boolean))));
  if (wrong.length > 0) throw new Error(`${board}: ${wrong.join('\n')}`);
  // uPlot draws in the frame after.
  await page.waitForTimeout(400);
  const whole = await page.screenshot({ fullPage: true });
  const first = await page.screenshot({ clip: { x: 0, y: 44, width: 1400, height: FIRST_ROW } });
  await page.close();
  return { whole, first };
}

/** The same picture with a palette, and packed as well as can be. */
function small(png) {
  const palette = execFileSync('pngquant', [String(COLOURS), '--nofs', '--speed', '1', '--strip', '-'], { input: png, maxBuffer: 1 << 26 });
  const [loose, packed] = ['loose.png', 'packed.png'].map((name) => join(scratch, name));
  writeFileSync(loose, palette);
  execFileSync('zopflipng', ['-y', '--filters=0', loose, packed]);
  return readFileSync(packed);
}

const scratch = mkdtempSync(join(tmpdir(), 'pictures-'));
process.on('exit', () => rmSync(scratch, { recursive: true }));
const firstRows = new Map();
const upstream = { port: 0 };
const server = await serve(upstream);
const origin = `http://127.0.0.1:${server.address().port}`;
const quiet = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const executablePath = process.env.CHROMIUM;
const browser = await chromium.launch({ executablePath, args: quiet });
mkdirSync(pictures, { recursive: true });
try {
  for (const [place, state] of wanted.entries()) {
    upstream.port = 29_600 + (process.pid % 200) * 10 + place;
    const child = await prometheus(state, upstream.port);
    try {
      for (const board of BOARDS) {
        const file = join(pictures, `${state}-${board}.png`);
        const { whole, first } = await drawn(browser, origin, board);
        const picture = small(whole);
        writeFileSync(file, picture);
        if (board === 'overview') firstRows.set(state, small(first));
        console.log(`${file}: ${Math.round(picture.length / 1024)} KB`);
      }
    } finally {
      child.kill();
    }
  }
} finally {
  await browser.close();
  server.close();
}
const rows = [...firstRows].map(([state, picture]) => {
  const name = state.replaceAll('_', ' ');
  return `**${name}**\n\n![The first row of the overview: ${name}](data:image/png;base64,${picture.toString('base64')})\n`;
});
writeFileSync(guide, rows.join('\n'));
