import { expect, it } from 'vitest'
import { mcpAgent } from '@docrelay/server/test/mcp-agent'
import { openConsole } from './open-console.ts'

const page = (content: string, client = 'Acme') => ({
  name: 'Weekly minutes',
  fields: { fields: { client: { name: 'client', value: client } }, order: ['client'] },
  richTextPages: [{ id: 'p', name: 'Minutes', content }],
  pages: [{ id: 'c', name: 'Plan', shapes: [] }],
})

it('[LIFE-22] a former state is compared word by word and restored, and every open page follows', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const ann = await rest('ann')
  await ann.putDocument('minutes', page('<h2>Agenda</h2>\n<ul>\n<li><p>One</p></li>\n</ul>\n<p>Present: Ann and Ben.</p>'))
  await ann.captureRecoveryPoint('minutes')
  await ann.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  await ann.putDocument(
    'minutes',
    page('<h2>Agenda</h2><ul><li><p>One</p></li></ul><p>Present: Ann and Carla.</p><p>More.</p>', 'Beta'),
  )
  const [hers, his] = await Promise.all([openAs('ann', '#doc/minutes?panel=history'), openAs('ben', '#doc/minutes')])
  await his.getByText('More.').waitFor()

  await hers
    .getByRole('button', { name: /^Look at the state of/ })
    .last()
    .click()
  const dialog = hers.getByRole('dialog')
  const changes = dialog.getByRole('region', { name: 'Changes since then' })
  await changes.waitFor()
  expect(await changes.locator('del').allTextContents()).toEqual(['Ben'])
  expect(await changes.locator('ins').allTextContents()).toEqual(['Carla'])
  expect(await changes.locator('.change').allInnerTexts()).toEqual([expect.stringContaining('More.')])
  expect(await dialog.getByRole('region', { name: 'Fields and references' }).getByRole('listitem').allInnerTexts()).toEqual([
    'Changed client: “Acme” → “Beta”',
  ])
  await dialog.getByRole('radio', { name: 'Side by side' }).check()
  await dialog.getByRole('region', { name: 'Then' }).getByText('Present: Ann and Ben.').waitFor()

  await dialog.getByRole('button', { name: 'Restore this state …' }).click()
  await hers.getByRole('dialog', { name: 'Restore this state?' }).getByRole('button', { name: 'Restore' }).click()
  for (const one of [hers, his]) {
    await one.getByText('Present: Ann and Ben.').waitFor()
    expect(new URL(one.url()).hash).toMatch(/^#doc\/doc-/)
  }
})

it('[LIFE-20] a recovery point of the present state is taken, and only once', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('minutes', page('<p>One</p>'))
  const ann = await openAs('ann', '#doc/minutes?panel=history')
  await ann.getByRole('button', { name: 'Keep this state' }).click()
  await ann.locator('.told', { hasText: 'is kept as a recovery point' }).waitFor()
  await ann.getByRole('button', { name: 'Keep this state' }).click()
  await ann.locator('.told', { hasText: 'Nothing changed since' }).waitFor()
  expect(await ann.getByRole('button', { name: /^Look at the state of/ }).allInnerTexts()).toEqual([
    expect.stringContaining('kept by hand'),
  ])
})

it('[AG-73] a call of an agent is undone from the list, once and in every open page; readers get no undo button', async (context) => {
  const { relay, issuer, rest, openAs } = await openConsole(context)
  const ann = await rest('ann')
  await ann.putDocument('minutes', page('<p id="blk-a">Mine</p>'))
  await ann.shareDocument('minutes', [{ userId: 'ben', permission: 'view' }])
  const agent = await mcpAgent(relay.mcpUrl, await issuer.mint('ann'))
  await agent.call('set_prose', { docId: 'minutes', pageId: 'p', id: 'blk-a', content: 'Of an agent' })
  const [hers, his] = await Promise.all([
    openAs('ann', '#doc/minutes?panel=history'),
    openAs('ben', '#doc/minutes?panel=history'),
  ])
  await his.locator('.calls li').waitFor()
  expect(await his.locator('.calls').getByRole('button').count()).toBe(0)
  await hers.locator('.calls').getByRole('button').click()
  for (const one of [hers, his]) await one.locator('.ProseMirror').getByText('Mine').waitFor()
  await hers.locator('.calls').getByText('undone').first().waitFor()
  // An undo is a call as well, so it can be undone.
  await expect.poll(() => his.locator('.calls li').count()).toBe(2)
})
