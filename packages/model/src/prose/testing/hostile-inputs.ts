/** HTML of a given length on which careless parsers are slow, run out of stack or make far more than they were given. [PROSE-21] */
export const hostileInputs: { readonly [name: string]: (size: number) => string } = {
  'nested divs': repeat('<div>'),
  'nested quotes': repeat('<blockquote>'),
  'blocks below the deepest level': (size) => `${'<blockquote>'.repeat(64)}${'<p>x'.repeat(size / 4)}`,
  'nested lists': repeat('<ul><li>'),
  'nested tables': repeat('<table><tr><td>'),
  'unclosed bold': repeat('<b>'),
  'adoption agency': repeat('<a><div>'),
  'adoption agency with blocks': repeat('<b><p>x</b>'),
  'misnested formatting': repeat('<b><i></b>x</i>'),
  'formatting reopened in every paragraph': (size) => `${numbered(size / 2, (i) => `<b a${i}>`)}${'<p>x'.repeat(size / 8)}`,
  'formatting reopened in every cell': (size) =>
    `<table>${numbered(size / 2, (i) => `<i x${i}>`)}${'<tr><td>x'.repeat(size / 18)}`,
  'unclosed fonts': repeat('<font size=1>x<p>'),
  'short paragraphs': repeat('<p>x'),
  'cells of one row': repeat('<td>x'),
  'a wide table': (size) => `<table><tr>${'<td>x'.repeat(size / 5)}`,
  'a long table': (size) => `<table>${'<tr><td>x'.repeat(size / 9)}`,
  'tables to be filled': repeat(`<table>${'<tr>'.repeat(100)}<td><td colspan=199></table>`),
  'tables of empty rows': repeat(`<table>${'<tr>'.repeat(1000)}<td></table>`),
  'huge spans': (size) => `<table>${'<tr><td colspan=999999999 rowspan=999999999>x'.repeat(size / 45)}`,
  'foster parents': (size) => `<table>${'x<b></b>'.repeat(size / 8)}`,
  'hard breaks in bold': (size) => `<b><p>${'<br>'.repeat(size / 4 - 4)}</b>`,
  images: repeat('<img src=a>'),
  'images in one paragraph': (size) => `<p>${'a<img src=a>'.repeat(size / 12)}`,
  'mark runs': repeat('<b>a</b><i>b</i>'),
  'nested colours': repeat('<span style="color:red">x'),
  'attributes of one element': (size) => `<p ${numbered(size, (i) => `a${i} `)}>x`,
  'style declarations': (size) => `<p style="${'a:b;'.repeat(size / 4)}">x`,
  'unknown elements': repeat('<x-y>a</x-y>'),
  'less-than signs': repeat('<'),
  ampersands: repeat('&'),
  entities: repeat('&notit;'),
  comments: repeat('<!--a-->'),
  'white space': repeat(' \n'),
  'white space and letters': repeat('   a'),
  'one long address': (size) => `<a href="${'a+'.repeat(size / 2)}:x">t</a>`,
  'a link of many runs': (size) => `<a href="${'u'.repeat(size / 2)}">${'<b>a</b>b'.repeat(size / 18)}</a>`,
  'one long image': (size) => `<img src="data:image/png;base64,${'A'.repeat(size)}!">`,
  'end tags': repeat('</p>'),
  'svg and back': repeat('<svg><p>'),
  'nested figures': repeat('<figure><img src=a>'),
  'nested galleries': repeat('<div data-gallery><img src=a>'),
  'quotes in lists': repeat('<ul><blockquote>'),
  'lists beside items': (size) => `<ul><li>x</li>${'<ul><li>y</li></ul>'.repeat(size / 19)}`,
  'galleries in lists': repeat('<ul><div data-gallery><p>x</p>'),
  'cells in cells': repeat('<td><table>'),
  'nested captions': repeat('<figure><figcaption>x'),
  'headings in headings': repeat('<h1><div><h2>x'),
  'forms and buttons': repeat('<form><button>'),
  selects: repeat('<select><option>x'),
  templates: repeat('<template>'),
}

function repeat(part: string): (size: number) => string {
  return (size) => part.repeat(Math.ceil(size / part.length))
}

function numbered(size: number, part: (i: number) => string): string {
  const parts: string[] = []
  for (let length = 0, i = 0; length < size; i++) {
    const next = part(i)
    parts.push(next)
    length += next.length
  }
  return parts.join('')
}
