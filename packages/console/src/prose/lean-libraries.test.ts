import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { proseSchema } from '@docrelay/prosemirror'
import { describe, expect, it } from 'vitest'
import { LEAN_FILES, leanCode } from '../../lean-libraries.ts'

const libraries = join(import.meta.dirname, '../../../../node_modules')

describe('what the build leaves out of libraries', () => {
  it.each(LEAN_FILES)('[CON-27] fits the installed %s and makes it shorter', (file) => {
    const code = readFileSync(join(libraries, file), 'utf8')
    expect(leanCode(file, code).length).toBeLessThan(code.length)
  })

  it('[CON-27] is refused when a library no longer holds it', () => {
    expect(() => leanCode('y-prosemirror/src/utils.js', 'export const hashOfJSON = () => ""')).toThrow(
      /does not hold exactly once/,
    )
  })

  it('[CON-27] is no hash that a mark needs: none of the schema can be on the same text twice', () => {
    const marks = Object.values(proseSchema.marks)
    expect(marks.length).toBeGreaterThan(0)
    expect(marks.filter((mark) => !mark.excludes(mark)).map(({ name }) => name)).toEqual([])
  })
})
