import { expect, it } from 'vitest'
import { openIconPaths } from './icon-paths.ts'

it('[CANVAS-25] every icon of the catalogue has a path, and an unknown name has none', () => {
  const paths = openIconPaths()
  expect(paths('ab-testing')).toMatch(/^M4 2a2[0-9a-zA-Z .-]+$/)
  expect(paths('database')).toMatch(/^M12 /)
  expect(paths('zip-box-outline')).toMatch(/^M/)
  for (const slug of ['', 'no-such-icon', 'database M12', '.*', 'a\nb', 'x'.repeat(200), '../x'])
    expect(paths(slug), slug).toBeNull()
})
