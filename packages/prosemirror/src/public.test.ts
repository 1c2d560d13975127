import { expect, it } from 'vitest'

it('what the README names can be imported from @docrelay/prosemirror', async () => {
  const names = Object.keys(await import('@docrelay/prosemirror'))
  expect(names).toEqual(expect.arrayContaining(['bindProse', 'blockIds', 'carets', 'proseSchema']))
})
