import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { currentWidthsFile, WIDTHS_FILE } from './advance-widths.ts'

it('[DIAG-5] the table of advance widths equals the widths of the preview font', () => {
  expect(readFileSync(WIDTHS_FILE, 'utf8')).toBe(currentWidthsFile())
})
