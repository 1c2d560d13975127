import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseSchema } from '@docrelay/prosemirror'
import { describe, expect, it } from 'vitest'
import { LEAN_FILES, leanCode } from '../../lean-libraries.ts'

const libraries = join(import.meta.dirname, '../../../../node_modules')

describe('code that the build removes from libraries', () => {
  it.each(LEAN_FILES)('[CON-27] is found in the installed %s, which gets shorter', (file) => {
    const code = readFileSync(join(libraries, file), 'utf8')
    expect(leanCode(file, code).length).toBeLessThan(code.length)
  })

  it('[CON-27] fails the build when a library does not contain it', () => {
    expect(() => leanCode('y-prosemirror/src/utils.js', 'export const hashOfJSON = () => ""')).toThrow(
      /does not hold exactly once/,
    )
  })

  it('[CON-27] contains hashes of marks, which the schema does not need: no text can have the same mark twice', () => {
    const marks = Object.values(proseSchema.marks)
    expect(marks.length).toBeGreaterThan(0)
    expect(marks.filter((mark) => !mark.excludes(mark)).map(({ name }) => name)).toEqual([])
  })
})
