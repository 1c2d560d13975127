import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ICON_PATHS_FILE, iconPathsFile } from './icon-paths.ts'
import { ICONS_FILE, iconsFile, readIconPackage } from './icon-assets.ts'

it('[ICON-1] the catalogue equals what the icon package yields', () => {
  expect(readFileSync(ICONS_FILE, 'utf8')).toBe(iconsFile(readIconPackage()))
})

it('[ICON-1] each icon is in one category under its slug, and hidden ones are in none', () => {
  const info = { version: '1', name: 'Set', license: { spdx: 'MIT', url: 'https://x' } }
  const body = '<path fill="currentColor" d="M0 0"/>'
  const icons = { 'Big Box': { body }, car: { body }, gone: { body, hidden: true } }
  const made = iconsFile({ info, icons, categories: { B: ['car', 'gone', 'unknown'], A: ['car', 'Big Box'], C: ['gone'] } })
  expect(JSON.parse(made)).toEqual({ source: 'Set, @iconify-json/mdi 1, MIT, https://x', slugs: { A: 'big-box car' } })
})

it('[CANVAS-25] previews have the drawing of every icon of the catalogue', () => {
  const drawn = readFileSync(ICON_PATHS_FILE, 'utf8')
  expect(drawn === iconPathsFile(readIconPackage())).toBe(true)
  const { slugs } = JSON.parse(readFileSync(ICONS_FILE, 'utf8')) as { readonly slugs: Readonly<Record<string, string>> }
  const known = Object.values(slugs).flatMap((list) => list.split(' '))
  expect(
    drawn
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')[0])
      .sort(),
  ).toEqual(known.sort())
})
