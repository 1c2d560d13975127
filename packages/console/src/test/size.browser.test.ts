import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { NEEDS_CHROMIUM, openConsole } from './open-console.ts'
import { editorOf, minutes } from './pages.ts'

const FIRST_BYTES = 28_000
const ALL_BYTES = 246_500

it('[CON-27] the first load and the whole page stay below their size limits', (context) => {
  const folder = process.env['DOCRELAY_TEST_CONSOLE']
  if (folder === undefined) return context.skip(NEEDS_CHROMIUM)
  const sizes = new Map(
    readdirSync(join(folder, 'assets')).map((name) => [name, gzipSync(readFileSync(join(folder, 'assets', name))).length]),
  )
  const first = firstFiles(folder)
  const sum = (names: Iterable<string>) => [...names].reduce((total, name) => total + (sizes.get(name) ?? 0), 0)
  expect(first.size).toBeGreaterThan(0)
  const told = [...sizes].sort(([, a], [, b]) => b - a).map(([name, size]) => `${first.has(name) ? '*' : ' '} ${size} ${name}`)
  expect(sum(first), `the first files (*) of\n${told.join('\n')}`).toBeLessThanOrEqual(FIRST_BYTES)
  expect(sum(sizes.keys()), `all of\n${told.join('\n')}`).toBeLessThanOrEqual(ALL_BYTES)
})

it('[CON-27] the code of text pages loads while the content of a document is on its way', async (context) => {
  const { rest, openAs, frames } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', minutes())
  const ann = await openAs('ann')
  frames.hold(TAG.sync)
  const code = ann.waitForRequest(/\/prose-page-[\w-]+\.js$/)
  await ann.getByRole('link', { name: 'Weekly minutes' }).click()
  await code
  expect(await editorOf(ann).count()).toBe(0)
  frames.release()
  await editorOf(ann).waitFor()
})

/** The files that the page names, and the modules that these import statically. */
function firstFiles(folder: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = namesIn(readFileSync(join(folder, 'index.html'), 'utf8'), /assets\/([\w.-]+)/g)
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    if (name.endsWith('.js'))
      open.push(...namesIn(readFileSync(join(folder, 'assets', name), 'utf8'), /(?:from|import)\s*["']\.\/([\w.-]+)["']/g))
  }
  return found
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '')
}
