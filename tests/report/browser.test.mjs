// The two reports that `run` made, as a browser shows them. Everything else than the file itself is
// refused and counted.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import axe from 'axe-core';
import { chromium } from 'playwright-core';

const widths = [1280, 360];
const schemes = ['light', 'dark'];

let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
});

// Opens a report; `seen` holds what it asked for and complained about.
async function open(folder, options) {
  const url = pathToFileURL(path.resolve(folder, 'report.html')).href;
  const context = await browser.newContext({ deviceScaleFactor: 1, offline: true, ...options });
  context.setDefaultTimeout(180000);  // for machines that do much else
  const page = await context.newPage();
  const seen = { requests: [], complaints: [] };
  await context.route('**/*', (route) => {
    if (route.request().url() === url) return route.continue();
    return route.abort();
  });
  page.on('request', (request) => seen.requests.push(request.url()));
  page.on('console', (message) => seen.complaints.push(message.text()));
  page.on('pageerror', (error) => seen.complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    seen.complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(url);
  return { page, seen, url, close: () => context.close() };
}

function check_quiet(report) {
  assert.deepEqual(report.seen.requests.filter((url) => !url.startsWith('data:')), [report.url]);
  assert.deepEqual(report.seen.complaints, []);
}

function results_of(folder, file = 'results.json') {
  return JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'));
}

function numbers_in(value, found = new Set()) {
  if (typeof value === 'number') found.add(value);
  else if (value && typeof value === 'object') Object.values(value).forEach((each) => numbers_in(each, found));
  return found;
}

// Pairs of axis labels of one picture that lie on each other, and labels that leave the page.
function bad_labels() {
  const bad = [];
  for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const boxes = [...svg.querySelectorAll('.tick, .label, .name.end')]
      .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    boxes.forEach((one, i) => {
      if (svg.classList.contains('plot') && (one.box.left < -1 || one.box.right > innerWidth + 1)) {
        bad.push(`${one.text} leaves the page`);
      }
      for (const two of boxes.slice(i + 1)) {
        const apart = one.box.right <= two.box.left || two.box.right <= one.box.left
          || one.box.bottom <= two.box.top + 2 || two.box.bottom <= one.box.top + 2;
        if (!apart) bad.push(`${svg.id}: "${one.text}" and "${two.text}"`);
      }
    });
  }
  return bad;
}

// Figures whose picture takes no room or is all of one colour's absence.
function empty_figures() {
  return [...document.querySelectorAll('figure')].filter((figure) => {
    const picture = figure.querySelector('svg[role=img], .nothing');
    const box = (picture ?? figure).getBoundingClientRect();
    return !picture || box.width < 60 || box.height < 20 || box.left < -1;
  }).map((figure) => figure.textContent.slice(0, 60));
}

// What a page shows of each experiment: [name, {claim, verdict, ...}].
function read_articles() {
  const parts = '.claim, .caption, .badge, h2, h3, p, pre, figure, figure svg[role=img], table, td, th[scope=row]';
  return [...document.querySelectorAll('article')].map((article) => [article.id, {
    claim: article.querySelector('.claim').innerText,
    verdict: article.querySelector('.badge').innerText,
    conditions: article.querySelectorAll('.conditions tbody tr').length,
    pictures: article.querySelectorAll(':scope > .pictures > figure').length,
    hidden: [...article.querySelectorAll(parts)].filter((part) => !part.closest('details'))
      .filter((part) => !part.checkVisibility() || part.getBoundingClientRect().height < 5)
      .map((part) => part.outerHTML.slice(0, 100)),
  }]);
}

// For people to look at: the heading and each experiment.
async function photograph(page, look) {
  fs.mkdirSync(look, { recursive: true });
  await page.screenshot({ path: path.join(look, '0-contents.png') });
  for (const article of await page.locator('article').all()) {
    await article.screenshot({ path: path.join(look, `${await article.getAttribute('id')}.png`) });
  }
}

for (const folder of ['all', 'odd']) {
  describe(`report of ${folder}`, () => {
    for (const width of widths) {
      for (const colorScheme of schemes) {
        test(`${width} px, ${colorScheme}`, async () => {
          const report = await open(folder, { viewport: { width, height: 900 }, colorScheme });
          const { page } = report;
          const articles = results_of(folder).experiments.length;
          assert.equal(await page.locator('article').count(), articles);
          assert.deepEqual(await page.evaluate(empty_figures), []);
          if (folder === 'all') assert.deepEqual(await page.evaluate(bad_labels), []);
          const [needed, given] = await page.evaluate(
            () => [document.documentElement.scrollWidth, innerWidth]);
          assert.ok(needed <= given, `needs ${needed} of ${given} px`);

          // The stylesheet was accepted, and it is the one of this scheme.
          const page_colour = await page.evaluate(
            () => getComputedStyle(document.body).backgroundColor);
          assert.equal(page_colour, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(21, 24, 28)');

          check_quiet(report);
          if (folder === 'all' && process.env.LEXIROW_PHOTOGRAPH) await photograph(page, `${width}-${colorScheme}`);
          await report.close();
        });
      }
    }

    // The odd report has thousands of cells, over which axe takes a minute and sees the same.
    test('axe finds nothing serious', { skip: folder === 'odd' }, async () => {
      for (const colorScheme of schemes) {
        const report = await open(folder, { colorScheme });
        // Without the numbers on the cells of a map, which axe would compare with the page, and
        // without what only repeats: more rows of a table. Taken out, not only left out, of which
        // axe would still build its tree: that took 100 seconds a scheme.
        await report.page.evaluate(() => document.querySelectorAll(
          'svg *:not(title, desc), details > :not(summary), tbody tr:nth-child(n+3)',
        ).forEach((each) => each.remove()));
        await report.page.evaluate(axe.source);
        const { violations } = await report.page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
        assert.deepEqual(violations.filter((each) => ['serious', 'critical'].includes(each.impact))
          .map((each) => `${each.id}: ${each.nodes[0].html}`), []);
        await report.close();
      }
    });

    test('the links of the contents lead to their experiments', async () => {
      const report = await open(folder, { viewport: { width: 360, height: 700 } });
      const { page } = report;
      for (const link of await page.locator('nav a').all()) {
        const name = await link.textContent();
        await link.click();
        assert.equal(new URL(page.url()).hash, `#${name}`);
        const title = page.locator(`article#${name} h2`);
        assert.match(await title.textContent(), new RegExp(name));
        const box = await title.boundingBox();
        assert.ok(box.y >= 0 && box.y < 700, `${name} at ${box.y}`);
        await page.locator(`article#${name} .back`).click();
        assert.equal(new URL(page.url()).hash, '#contents');
      }
      await report.close();
    });

    test('without scripts every claim, verdict, picture and table is there', async () => {
      const report = await open(folder, { javaScriptEnabled: false });
      const found = new Map(await report.page.evaluate(read_articles));
      for (const each of results_of(folder).experiments) {
        const article = found.get(each.name);
        assert.equal(article.claim, each.claim);
        const verdict = each.error ? 'not tried' : each.holds ? 'holds' : 'does not hold';
        assert.equal(article.verdict.slice(2), verdict);
        assert.equal(article.conditions, each.conditions.length);
        assert.equal(article.pictures, each.pictures.length);
        assert.deepEqual(article.hidden, []);
      }
      check_quiet(report);
      await report.close();
    });

    test('the numbers of a picture can be opened without a script', async () => {
      const report = await open(folder, { javaScriptEnabled: false });
      const details = report.page.locator('details').first();
      assert.equal(await details.locator('table').isVisible(), false);
      await details.locator('summary').click();
      assert.ok(await details.locator('table').isVisible());
      await report.close();
    });

    test('every number stands in results.json or timings.json', () => {
      const html = fs.readFileSync(path.join(folder, 'report.html'), 'utf8');
      const known = numbers_in([results_of(folder), results_of(folder, 'timings.json')]);
      const shown = [...html.matchAll(/<data value="([^"]*)">/g)].map((match) => Number(match[1]));
      assert.ok(shown.length > 10);
      assert.deepEqual(shown.filter((number) => !known.has(number)), []);
    });

    test('on paper it is light and nothing is cut off', async () => {
      const report = await open(folder, { colorScheme: 'dark', viewport: { width: 720, height: 900 } });
      const { page } = report;
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
        'rgb(255, 255, 255)');
      const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll')]
        .filter((box) => box.scrollHeight > box.clientHeight + 1).length);
      assert.equal(cut, 0);
      await page.pdf({ path: `${folder}.pdf`, format: 'A4', printBackground: true });
      assert.ok(fs.statSync(`${folder}.pdf`).size > 10000);
      await report.close();
    });
  });
}

test('hostile texts add no element and can be read', async () => {
  const report = await open('odd', {});
  const { page } = report;
  assert.equal(await page.locator('script, img, iframe, [onfocus], [onerror]').count(), 0);
  assert.equal(await page.locator('style').count(), 1);
  const text = await page.locator('article#hostile').innerText();
  for (const token of ['<img src=x onerror=alert(1)>', '</script><script>alert(1)</script>',
    '" onfocus="alert(1)" autofocus="', '\\u202e', '\\u0000', '\\t', '\u2423', '(empty)', '\ufffd',
    '(10000 characters)']) {
    assert.ok(text.includes(token), token);
  }
  assert.ok(!text.includes('\u202e'));
  check_quiet(report);
  await report.close();
});
