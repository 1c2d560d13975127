import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import { parseMarkdown } from '@docrelay/model/prose/markdown-read'
import { serialiseMarkdown } from '@docrelay/model/prose/markdown-write'
import type { ProseTree } from '@docrelay/model/prose/node'
import { hostileInputs } from '@docrelay/model/prose/testing/hostile-inputs'
import { hostileMarkdown } from '@docrelay/model/prose/testing/hostile-markdown'

/**
 * Prints how many CPU milliseconds of one core it takes to read the worst HTML and Markdown, slowest first. [PROSE-21]
 *
 *     npm run bench:prose [-- <KiB> <part of a name>]
 */
const [kib = '1024', wanted = ''] = process.argv.slice(2)
const size = Number(kib) * 1024

function cpuMs(run: () => void): number {
  const from = process.threadCpuUsage()
  run()
  const used = process.threadCpuUsage(from)
  return (used.user + used.system) / 1000
}

/** Runs `run` twice and returns the lower time, since the first run includes compilation. */
function better(run: () => void): number {
  return Math.min(cpuMs(run), cpuMs(run))
}

function table(title: string, sets: typeof hostileInputs, read: (text: string) => ProseTree): void {
  const rows: { name: string; readMs: number; htmlMs: number; markdownMs: number }[] = []
  for (const [name, make] of Object.entries(sets)) {
    if (!name.includes(wanted)) continue
    const text = make(size).slice(0, size)
    let tree: ProseTree = []
    const readMs = better(() => {
      tree = read(text)
    })
    const htmlMs = cpuMs(() => void serialiseHtml(tree))
    rows.push({ name, readMs, htmlMs, markdownMs: cpuMs(() => void serialiseMarkdown(tree)) })
  }
  rows.sort((a, b) => b.readMs - a.readMs)
  console.log(`\n### ${title}, ${kib} KiB each\n\n| set | read ms | HTML out ms | Markdown out ms |\n|---|---|---|---|`)
  for (const { name, readMs, htmlMs, markdownMs } of rows)
    console.log(`| ${name} | ${readMs.toFixed(0)} | ${htmlMs.toFixed(0)} | ${markdownMs.toFixed(0)} |`)
}

table('HTML', hostileInputs, (text) => parseHtml(text, { source: 'call' }).tree)
table('Markdown', hostileMarkdown, (text) => parseMarkdown(text).tree)
table('HTML within Markdown', hostileInputs, (text) => parseMarkdown(text).tree)
