import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, minutes } from './pages.ts'

it('[CON-25] the list changes with what others do, without being loaded again', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  const ann = await openAs('ann')
  await ann.getByRole('heading', { name: 'No documents yet' }).waitFor()
  await owner.putDocument('minutes', minutes())
  await ann.getByRole('link', { name: 'Weekly minutes' }).waitFor()
  await owner.putDocument('minutes', { ...minutes(), name: 'Minutes of March' })
  await ann.getByRole('link', { name: 'Minutes of March' }).waitFor()
  await owner.deleteDocument('minutes')
  await ann.getByRole('heading', { name: 'No documents yet' }).waitFor()
})

it('[CON-25] a search finds titles and texts, and a hit leads to its page', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  await owner.putDocument('minutes', minutes('<h1>Decided</h1><p>Backups are restored once a month.</p>'))
  await owner.putDocument('plan', { ...minutes(), name: 'Plan of the month' })
  const ann = await openAs('ann')
  await ann.getByRole('searchbox').fill('month')
  await ann.getByRole('link', { name: 'Plan of the month' }).waitFor()
  await ann.getByRole('link', { name: 'Weekly minutes' }).first().waitFor()
  const hits = ann.getByRole('region', { name: 'In texts' })
  await hits.getByText('Backups are restored once a month').waitFor()
  await hits.getByRole('link').first().click()
  await badge(ann, 'saved').waitFor()
  expect(new URL(ann.url()).hash).toBe('#doc/minutes/p')
})

it('[CON-25] a person makes a document, names it, adds and renames pages, and deletes it', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const owner = await rest('ann')
  const ann = await openAs('ann')
  await ann.getByRole('button', { name: 'New document' }).click()
  await ann.getByRole('textbox', { name: 'Name' }).fill('Offsite')
  await ann.keyboard.press('Enter')
  const title = ann.getByRole('textbox', { name: 'Title of the document' })
  await title.waitFor()
  await title.fill('Offsite in spring')
  await ann.keyboard.press('Enter')
  await ann.getByRole('button', { name: 'Add page' }).click()
  await ann.getByRole('menuitem', { name: 'Drawing' }).click()
  await ann.getByRole('button', { name: 'Page Drawing: actions' }).click()
  await ann.getByRole('menuitem', { name: 'Rename page' }).click()
  await ann.getByRole('textbox', { name: 'Name of the page' }).fill('Map')
  await ann.keyboard.press('Enter')
  await ann.getByRole('tab', { name: 'Map', selected: true }).waitFor()
  await badge(ann, 'saved').waitFor()

  const [made] = await owner.listDocuments()
  const body = (await owner.getDocument(made?.id ?? '')) as {
    name: string
    pages: { name: string }[]
    richTextPages: { name: string }[]
  }
  expect(body.name).toBe('Offsite in spring')
  expect(body.pages.map(({ name }) => name)).toEqual(['Map'])
  expect(body.richTextPages).toHaveLength(1)

  await ann.getByRole('link', { name: 'Documents', exact: true }).click()
  await ann.getByRole('button', { name: 'Actions for Offsite in spring' }).click()
  await ann.getByRole('menuitem', { name: 'Delete' }).click()
  await ann.getByRole('button', { name: 'Delete', exact: true }).click()
  await ann.getByRole('heading', { name: 'No documents yet' }).waitFor()
  expect(await owner.listDocuments()).toEqual([])
})
