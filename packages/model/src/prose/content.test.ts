import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { listFields } from '../fields/list-fields.ts'
import { body } from '../testing/builders.ts'
import { readContent, type ContentArgs } from './content.ts'
import { serialiseHtml } from './html.ts'
import { countingEnvironment } from './testing/editing.ts'
import { librariesOf } from './edit-page.ts'

const library = body({
  fields: {
    fields: { Client: { name: 'Client', value: 'A & <B>' }, Empty: { name: 'Empty', value: '' } },
    order: ['Client', 'Empty'],
  },
  references: { items: { smith2020: { id: 'smith2020' } }, itemOrder: ['smith2020'] },
})

function read(content: string, format: ContentArgs['format'] = 'html', given = library) {
  const answer = readContent({ content, format }, librariesOf(given, countingEnvironment()))
  if (isRefusal(answer)) throw new Error(answer.message)
  return { ...answer, html: serialiseHtml(answer.tree) }
}

const chip = (name: string, label?: string) =>
  label === undefined
    ? `<span data-field data-name="${name}"></span>`
    : `<span data-field data-name="${name}" data-label="${label.replaceAll('"', '&quot;')}">${label}</span>`

describe('content argument of a call', () => {
  it('[PROSE-25] footnotes and wiki links stay text, with one warning for each kind', () => {
    const answer = read('A claim.[^1] Another.[^2] See [[Home page]].\n\n[^1]: The source.', 'markdown')
    expect(answer.html).toContain('A claim.[^1]')
    expect(answer.warnings).toEqual([
      {
        reason:
          'footnotes such as "[^1]" are kept as plain text (3 times, first in block 0); write the note as a sentence in brackets',
      },
      { reason: 'wiki links such as "[[Home page]]" are kept as plain text (in block 0); write [text](relay://doc/<id>)' },
    ])
  })

  it.each([
    [
      '# A {#a .b}',
      'heading attributes such as "{#a .b}" are kept as plain text (in block 0); leave them out, since blocks get ids by themselves',
    ],
    [
      'A claim.[^1]\n\n[^1]: source',
      'footnotes such as "[^1]" are read as links (in block 0); write the note as a sentence in brackets',
    ],
    [
      '---\ntitle: A\ntags: [b]\n---\n\nText.',
      'front matter such as "title: A" is kept as a rule and plain text; use fields for values, with service_set_fields',
    ],
    [
      '---\r\ntitle: A\r\n---',
      'front matter such as "title: A" is kept as a rule and plain text; use fields for values, with service_set_fields',
    ],
  ])('[PROSE-25] markup of another dialect causes a warning that says how it was stored: %j', (content, reason) => {
    expect(read(content, 'markdown').warnings).toEqual([{ reason }])
  })

  it.each([
    '`[^1]` and `[[x]]`',
    '```\n[^1] [[x]]\n```',
    'a[0], [x]^2, [link](https://a.example)',
    '# A {{Client}}',
    '# `{#a}`',
    'Text {#a}',
    '---\n\nNote: after a rule\n\n---',
    'First.\n\n---\ntitle: A\n---',
  ])('[PROSE-25] Markdown without markup of other dialects causes no warning: %j', (content) => {
    expect(read(content, 'markdown').warnings).toEqual([])
  })

  it('[PROSE-37] [FIELD-6] a field chip shows the current value, whatever label the input has', () => {
    for (const given of [chip('Client'), chip('Client', 'old'), '<span data-field data-name="Client"><b>x</b></span>'])
      expect(read(`<p>${given}</p>`).html).toBe(`<p>${chip('Client', 'A &amp; &lt;B&gt;')}</p>`)
    expect(read(`<p>${chip('Empty', 'x')}</p>`)).toMatchObject({ html: `<p>${chip('Empty')}</p>`, warnings: [] })
  })

  it('[PROSE-37] [FIELD-4] a chip shows the value as list_fields does, also when an editor stored it as a number', () => {
    const given = body({ fields: { fields: { Year: { name: 'Year', value: 2026 } }, order: ['Year'] } })
    expect(read(`<p>${chip('Year')}</p>`, 'html', given).html).toBe(`<p>${chip('Year', '2026')}</p>`)
    expect(listFields(given)).toEqual([{ name: 'Year', value: '2026' }])
  })

  it('[PROSE-37] an unknown field is written without label, and a warning names the nearest fields', () => {
    const answer = read(`<ul><li>${chip('client2', 'x')}${chip('client2')}</li></ul>`)
    expect(answer.html).toBe(`<ul><li><p>${chip('client2')}${chip('client2')}</p></li></ul>`)
    expect(answer.warnings).toEqual([
      { reason: 'the document has no field "client2"; its chip shows nothing until it is set', nearest: ['Client', 'Empty'] },
    ])
  })

  it('[PROSE-37] [PROSE-21] chips whose long values together exceed the limit are refused before the page is built', () => {
    const given = body({ fields: { fields: { Long: { name: 'Long', value: 'x'.repeat(65_536) } }, order: ['Long'] } })
    const readChips = (count: number) =>
      readContent({ content: '{{Long}}'.repeat(count) }, librariesOf(given, countingEnvironment()))
    expect(readChips(128)).toMatchObject({ isBlank: false })
    expect(readChips(129)).toMatchObject({
      kind: 'refused',
      code: 'ERR_PROSE_TOO_LARGE',
      facts: { bytes: 129 * 65_536, maxBytes: 8_388_608 },
    })
  })

  it('[PROSE-37] a citation that is not in the library is kept with a warning', () => {
    const cite = (id: string) => `<span data-citation data-ref-id="${id}" data-label="[1]">[1]</span>`
    expect(read(`<p>${cite('smith2020')}</p>`).warnings).toEqual([])
    const answer = read(`<p>${cite('smith2021')}</p>`)
    expect(answer.html).toBe(`<p>${cite('smith2021')}</p>`)
    expect(answer.warnings).toEqual([
      {
        reason: 'the document has no reference "smith2021"; its citation is kept and shows as unresolved',
        nearest: ['smith2020'],
      },
    ])
  })

  it('[FIELD-5] chips of today and now show the UTC date and time of the write', () => {
    expect(read(`<p>${chip('today')}${chip('now', 'x')}</p>`)).toMatchObject({
      html: `<p>${chip('today', '2026-07-01')}${chip('now', '12:34')}</p>`,
      warnings: [],
    })
  })

  it('[PROSE-37] many unknown names cause few warnings', () => {
    const answer = read(`<p>${Array.from({ length: 5000 }, (_, i) => chip(`n${i}`)).join('')}</p>`)
    expect(answer.warnings).toHaveLength(11)
    expect(answer.warnings.at(-1)?.reason).toContain('4990 more')
  })

  it('[BODY-3] a document without field or reference libraries, or with unreadable ones, has no known names', () => {
    for (const given of [body({}), body({ fields: { x: 1 }, references: { items: 2 } })])
      expect(read(`<p>${chip('a')}</p>`, 'html', given).warnings).toMatchObject([{ nearest: [] }])
  })

  it('[PROSE-21] the size limit counts bytes of UTF-8', () => {
    const libraries = librariesOf(library, countingEnvironment())
    expect(readContent({ content: 'é'.repeat(524_288), format: 'html' }, libraries)).toHaveProperty('tree')
    expect(readContent({ content: 'é'.repeat(524_289), format: 'html' }, libraries)).toMatchObject({
      code: 'ERR_PROSE_TOO_LARGE',
    })
  })

  it('[PROSE-25] content is Markdown unless its format is HTML', () => {
    const given = '# T\n\n{{Client}} and **x** {{Other}}'
    const read = `<h1>T</h1><p>${chip('Client', 'A &amp; &lt;B&gt;')} and <strong>x</strong> ${chip('Other')}</p>`
    const libraries = librariesOf(library, countingEnvironment())
    for (const format of [undefined, 'markdown', 'md'] as const) {
      const answer = readContent({ content: given, format }, libraries)
      if (isRefusal(answer)) throw new Error(answer.message)
      expect(serialiseHtml(answer.tree)).toBe(read)
      expect(answer.warnings).toMatchObject([{ nearest: expect.arrayContaining(['Client']) as unknown }])
    }
  })

  it('[PROSE-H21] content without a block differs from a written empty paragraph', () => {
    expect(['', ' ', '<i></i>', '<p></p>', '<p id="blk-1"></p>', 'x', '<hr>'].map((content) => read(content).isBlank)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })
})
