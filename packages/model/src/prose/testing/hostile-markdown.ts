/** Markdown of a given length on which careless parsers are slow, run out of stack or make far more than they were given. [PROSE-21] */
export const hostileMarkdown: { readonly [name: string]: (size: number) => string } = {
  'nested quotes': repeat('>'),
  'quotes sixty deep': repeat(`${'> '.repeat(60)}a\n`),
  'quotes that deepen': deepening((depth) => `${'>'.repeat(depth)}a`),
  'quotes sixty deep that lines continue': (size) => `${'>'.repeat(60)}a\n${'b\n'.repeat(size / 2)}`,
  'nested lists': deepening((depth) => `${'  '.repeat(depth)}- a`),
  'lists on one line': repeat('- '),
  'numbered lists on one line': repeat('1. '),
  'quotes and lists': repeat('> - '),
  'opening brackets': repeat('['),
  'closing brackets': repeat(']'),
  'opening images': repeat('!['),
  'images of images': (size) => '!['.repeat(size / 6) + '](b)'.repeat(size / 6),
  'links of links': (size) => '[a '.repeat(size / 7) + '](b)'.repeat(size / 7),
  'unclosed links': repeat('[a]('),
  'unclosed targets': repeat('[a](<'),
  'unclosed titles': repeat('[a](b "'),
  links: repeat('[a](b) '),
  images: repeat('![a](b)'),
  asterisks: repeat('*'),
  'opening asterisks': repeat('*a '),
  'asterisks in words': repeat('a*'),
  'asterisks of all lengths': repeat('a**b*c***'),
  'asterisks in long runs': repeat(`${'*'.repeat(249)}a`),
  underscores: repeat('_a '),
  'deep emphasis': (size) => '*a '.repeat(size / 6) + 'a* '.repeat(size / 6),
  'deep strong emphasis': (size) => `${'*'.repeat(size / 2)}a${'*'.repeat(size / 2)}`,
  tildes: repeat('~~a '),
  'backticks of all lengths': deepening((length) => '`'.repeat(length)),
  backticks: repeat('`a '),
  'less-than signs': repeat('<'),
  'open tags': repeat('<a '),
  'open attributes': repeat('<a href="'),
  'inline tags': repeat('a<b>'),
  'paragraphs with tags': repeat('a<b>\n\n'),
  'names of slots': (size) => `<b>data-slot${'x'.repeat(size)}`,
  'many names of slots': repeat('data-slotx '),
  comments: repeat('<!--'),
  'inline comments': repeat('a <!--'),
  instructions: repeat('a <?'),
  declarations: repeat('a <!A'),
  'character data': repeat('a <![CDATA['),
  'HTML blocks': repeat('<div>\n\n'),
  'HTML blocks and text': repeat('<b>\n\na\n\n'),
  'HTML blocks in list items': repeat('- <div>\n\n  a\n\n'),
  'HTML blocks in quotes that end inside a tag': repeat('> <b>\n>\n> a\n>\n> <p title="\n>\n> b\n\n'),
  'paragraphs in a select': (size) => `<select>\n\n${'a\n\n'.repeat(size / 3)}`,
  'paragraphs below deep tags': (size) => `${'<div>'.repeat(600)}\n\n${'a *b*\n\n'.repeat(size / 8)}`,
  'HTML blocks that end inside a tag': (size) => `${'<b>\n\na\n\n'.repeat(size / 8)}<p title="\n\nb`,
  'HTML tables and text': repeat('<table>\n\na\n\n'),
  'tables to be filled': repeat(`<table>${'<tr>'.repeat(100)}<td>&#32; </td><td colspan=199></table>\n\n`),
  'tables that say space': repeat(`<table>${'<tr></tr>'.repeat(100)}<tr><td colspan="199"><p>&#32;</p></td></tr></table>\n\n`),
  'canonical HTML': repeat('<p>&#32;a</p>\n\n'),
  'nearly canonical HTML': (size) => `<p>${'&#32;<b>a</b>'.repeat(size / 13)}`,
  'a long table': (size) => `|a|b|c|d|\n|-|-|-|-|\n${'|a|b|c|d|\n'.repeat(size / 10)}`,
  'a wide table': (size) => `${'|a'.repeat(size / 4)}\n${'|-'.repeat(size / 4)}`,
  'a table of missing cells': (size) => `${'|a'.repeat(190)}\n${'|-'.repeat(190)}\n${'|\n'.repeat(size / 2)}`,
  'many tables': repeat('|a|\n|-|\n\n'),
  ampersands: repeat('&'),
  entities: repeat('&amp;'),
  'unknown entities': repeat('&abcdefgh;'),
  definitions: repeat('[a]: b\n'),
  'a definition with an open title': (size) => `[a]: b "${'c\n'.repeat(size / 2)}`,
  'definitions of many names': numbered((i) => `[a${i}]: b\n`),
  'a long target used often': (size) => `[a]: /${'u'.repeat(size / 2)}\n\n${'[a] '.repeat(size / 8)}`,
  'a long link of many runs': (size) => `[${'*a*b'.repeat(size / 8)}](${'u'.repeat(size / 2)})`,
  'dollar signs': repeat('$'),
  'opening dollar signs': repeat('$a '),
  'dollar signs in links': repeat('[$a '),
  'unclosed math blocks': repeat('- $$\n'),
  'math blocks': repeat('$$\na\n$$\n'),
  'opening braces': repeat('{'),
  'unclosed fields': repeat('{{a '),
  fields: repeat('{{a}}'),
  'empty lines': repeat('\n'),
  'white space': repeat(' \n'),
  tabs: repeat('\t'),
  lines: repeat('a\n'),
  'hard breaks': repeat('a\\\n'),
  paragraphs: repeat('a\n\n'),
  headings: repeat('# a\n'),
  'underlined headings': repeat('a\n-\n'),
  rules: repeat('---\n'),
  'list items': repeat('- a\n'),
  'loose list items': repeat('1. a\n\n'),
  'task items': repeat('- [ ] a\n'),
  'boxes now and then': repeat('- [ ] a\n- b\n'),
  callouts: repeat('> [!TIP]\n\n'),
  fences: repeat('```\n'),
  escapes: repeat('\\*'),
}

function repeat(part: string): (size: number) => string {
  return (size) => part.repeat(Math.ceil(size / part.length))
}

function numbered(part: (i: number) => string): (size: number) => string {
  return (size) => {
    const parts: string[] = []
    for (let length = 0, i = 0; length < size; i++) {
      const next = part(i)
      parts.push(next)
      length += next.length
    }
    return parts.join('')
  }
}

function deepening(part: (depth: number) => string): (size: number) => string {
  return numbered((i) => `${part(i)}\n`)
}
