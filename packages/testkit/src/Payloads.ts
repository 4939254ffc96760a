/** JSON objects that parsing and re-serialising would change. A recorder must return these texts unchanged. */

const deep = (depth: number): string => `{"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`

/** Texts of one JSON object each, by what makes them awkward. */
export const awkward: Readonly<Record<string, string>> = {
  "numbers that parsers round": `{"a":1.0,"b":-0,"c":1e400,"d":9007199254740993,"e":0.1000,"f":-0.0,"g":1E+2,"h":1e-400}`,
  "long numbers": `{"n":${"9".repeat(400)}.${"0".repeat(400)}}`,
  "escaped characters": String.raw`{"nul":"\u0000","all":"\"\\\/\b\f\n\r\t\u001f\u007f","lone":"\ud800 \udc00\ud800","pair":"\ud83d\ude00"}`,
  "escapes next to the characters they encode": String.raw`{"é":"é","\u00e9":"\u00e9","😀":"😀","slash":"/ \/"}`,
  "duplicate keys": `{"a":1,"a":2,"":3,"":4,"a":{"b":1,"b":2}}`,
  "keys of Object.prototype": `{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":null,"hasOwnProperty":0}`,
  "white space between tokens": `{ \t"a"\r\n: [ 1 ,\n2 , { } , [ ] ] ,\n\n"b" : { "c" : null } \t}`,
  "structure inside strings": String.raw`{"a":"{[\"}],:","b":"\\","c":"\\\"","d":"\\\\\"}","inputs":"output"}`,
  "field names of the event": `{"inputs":{"inputs":{}},"output":[{"properties":{"inputs":1}}],"properties":{"inputs":{"x":1}}}`,
  "an empty object": `{}`,
  "10,000 levels": deep(10_000),
  "an empty key and a long string": `{"":"${"x".repeat(100_000)}"}`
}
