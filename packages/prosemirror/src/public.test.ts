import { expect, it } from 'vitest'

it('every name in the README can be imported from @docrelay/prosemirror', async () => {
  const names = Object.keys(await import('@docrelay/prosemirror'))
  expect(names).toEqual(expect.arrayContaining(['bindProse', 'blockIds', 'carets', 'proseSchema']))
})
