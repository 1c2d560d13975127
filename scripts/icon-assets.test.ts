import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ICONS_FILE, iconsFile, readIconPackage } from './icon-assets.ts'

it('[ICON-1] the catalogue is what the icon package gives', () => {
  expect(readFileSync(ICONS_FILE, 'utf8')).toBe(iconsFile(readIconPackage()))
})

it('[ICON-1] an icon stands in one category under its slug, and hidden ones nowhere', () => {
  const info = { version: '1', name: 'Set', license: { spdx: 'MIT', url: 'https://x' } }
  const icons = { 'Big Box': {}, car: {}, gone: { hidden: true } }
  const made = iconsFile({ info, icons, categories: { B: ['car', 'gone', 'unknown'], A: ['car', 'Big Box'], C: ['gone'] } })
  expect(JSON.parse(made)).toEqual({ source: 'Set, @iconify-json/mdi 1, MIT, https://x', slugs: { A: 'big-box car' } })
})
