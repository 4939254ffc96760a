/** Markdown as elements, never as HTML text: what is HTML in it is shown as it is written. Line breaks stay. */
import { Lexer, type Token, type Tokens } from "marked"
import type { ComponentChildren, VNode } from "preact"
import { useMemo } from "preact/hooks"
import { plain } from "./Hidden.ts"
import { safeHref, safeImage } from "./Links.ts"
import { Plain } from "./Plain.tsx"

/** Deeper nesting is shown as it was sent. */
const maxDepth = 20

const Link = ({ children, href }: { readonly href: string; readonly children: ComponentChildren }) => {
  const safe = safeHref(href)
  if (safe === undefined) {
    return (
      <span>
        {children} <Plain as="span" class="address" text={href} />
      </span>
    )
  }
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer" title={plain(safe)}>
      {children}
    </a>
  )
}

/** Images from elsewhere are named, and not loaded: loading one tells its server who looks. */
const Image = ({ alt, href }: { readonly alt: string; readonly href: string }) => {
  const src = safeImage(href)
  if (src !== undefined) return <img src={src} alt={plain(alt)} />
  return (
    <span class="media">
      Image
      {alt !== "" && (
        <>
          {" "}
          “<Plain text={alt} />”
        </>
      )}
      , not loaded:{" "}
      <Link href={href}>
        <Plain text={href.slice(0, 200)} />
      </Link>
    </span>
  )
}

const Task = ({ token: { checked } }: { readonly token: Tokens.Checkbox }) => (
  <input type="checkbox" checked={checked} disabled aria-label="Task" />
)

const inline = (tokens: ReadonlyArray<Token> | undefined, depth: number): ReadonlyArray<VNode | string> =>
  (tokens ?? []).map((token) => {
    if (depth > maxDepth) return <Plain text={token.raw} />
    const within = () => inline((token as Tokens.Generic).tokens, depth + 1)
    switch (token.type) {
      case "strong":
        return <strong>{within()}</strong>
      case "em":
        return <em>{within()}</em>
      case "del":
        return <del>{within()}</del>
      case "codespan":
        return <Plain as="code" text={(token as Tokens.Codespan).text} />
      case "br":
        return <br />
      case "link":
        return <Link href={(token as Tokens.Link).href}>{within()}</Link>
      case "image":
        return <Image href={(token as Tokens.Image).href} alt={(token as Tokens.Image).text} />
      case "checkbox":
        return <Task token={token as Tokens.Checkbox} />
      case "escape":
        return <Plain text={(token as Tokens.Escape).text} />
      case "text":
        return (token as Tokens.Text).tokens === undefined ? (
          <Plain text={(token as Tokens.Text).text} />
        ) : (
          <>{within()}</>
        )
      default:
        return <Plain text={token.raw} />
    }
  })

const cells = (row: ReadonlyArray<Tokens.TableCell>, depth: number, isHead: boolean) => (
  <tr>
    {row.map(({ align, tokens }) =>
      isHead ? (
        <th scope="col" align={align ?? "left"}>
          {inline(tokens, depth)}
        </th>
      ) : (
        <td align={align ?? "left"}>{inline(tokens, depth)}</td>
      )
    )}
  </tr>
)

const listOf = (list: Tokens.List, depth: number) => {
  const items = list.items.map((item) => <li>{blocks(item.tokens, depth + 1)}</li>)
  return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>
}

const block = (token: Token, depth: number): VNode | string | null => {
  if (depth > maxDepth) return <Plain text={token.raw} />
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading":
      // The page has headings of its own above these.
      return (
        <p class={`heading h${(token as Tokens.Heading).depth}`}>{inline((token as Tokens.Heading).tokens, depth)}</p>
      )
    case "paragraph":
      return <p>{inline((token as Tokens.Paragraph).tokens, depth)}</p>
    case "text":
      return <>{inline((token as Tokens.Text).tokens ?? [token], depth)}</>
    case "code":
      return (
        <pre tabIndex={0}>
          <Plain as="code" text={(token as Tokens.Code).text} />
        </pre>
      )
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>
    case "list":
      return listOf(token as Tokens.List, depth)
    case "table": {
      const { header, rows } = token as Tokens.Table
      return (
        <div class="table" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>{cells(header, depth, true)}</thead>
            <tbody>{rows.map((row) => cells(row, depth, false))}</tbody>
          </table>
        </div>
      )
    }
    case "checkbox":
      return <Task token={token as Tokens.Checkbox} />
    case "hr":
      return <hr />
    default:
      return (
        <p class="as-sent">
          <Plain text={token.raw} />
        </p>
      )
  }
}

const blocks = (tokens: ReadonlyArray<Token>, depth: number): ReadonlyArray<VNode | string | null> =>
  tokens.map((token) => block(token, depth))

export const Markdown = ({ text }: { readonly text: string }) => {
  const tokens = useMemo(() => {
    try {
      return new Lexer({ gfm: true, breaks: true }).lex(text)
    } catch {
      return undefined
    }
  }, [text])
  if (tokens === undefined) return <Plain text={text} />
  return <div class="markdown">{blocks(tokens, 0)}</div>
}
