import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'

it('[CON-20] a person who signs in sees the documents and opens one', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', {
    name: 'Weekly minutes',
    richTextPages: [{ id: 'p', name: 'Minutes', content: '<p>Present: Ann</p>' }],
  })
  const ann = await openAs('ann')
  await ann.getByRole('link', { name: 'Weekly minutes' }).click()
  await ann.getByRole('heading', { name: 'Weekly minutes' }).waitFor()
  expect(new URL(ann.url()).hash).toBe('#doc/minutes')
})
