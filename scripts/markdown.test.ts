import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const folders = ['docs', 'bench', 'deploy', 'examples']
const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
].filter((name) => !name.includes('node_modules'))

/** Returns the anchor that Git hosts make from a heading. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')

it.each(pages)('every link of %s leads to an existing file and heading', (page) => {
  const dead = [...textOf(page).matchAll(/\]\((?!https?:|mailto:|relay:|blob:)([^)\s]*)\)/g)].flatMap(([, target = '']) => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(ROOT, file))) return [target]
    if (anchor === undefined || !file.endsWith('.md')) return []
    const headings = [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchorOf(title))
    return headings.includes(anchor) ? [] : [target]
  })
  expect(dead).toEqual([])
})
