/** JSON objects that a recorder is tempted to change: what comes back must be these texts, to the letter. */

const deep = (depth: number): string => `{"deep":${"[".repeat(depth)}${"]".repeat(depth)}}`

/** Each is the text of one JSON object. */
export const hurtful: Readonly<Record<string, string>> = {
  "numbers that parsers round": `{"a":1.0,"b":-0,"c":1e400,"d":9007199254740993,"e":0.1000,"f":-0.0,"g":1E+2,"h":1e-400}`,
  "long numbers": `{"n":${"9".repeat(400)}.${"0".repeat(400)}}`,
  "escaped characters": String.raw`{"nul":"\u0000","all":"\"\\\/\b\f\n\r\t\u001f\u007f","lone":"\ud800 \udc00\ud800","pair":"\ud83d\ude00"}`,
  "escapes beside what they stand for": String.raw`{"é":"é","\u00e9":"\u00e9","😀":"😀","slash":"/ \/"}`,
  "duplicate keys": `{"a":1,"a":2,"":3,"":4,"a":{"b":1,"b":2}}`,
  "keys of every prototype": `{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":null,"hasOwnProperty":0}`,
  "space between tokens": `{ \t"a"\r\n: [ 1 ,\n2 , { } , [ ] ] ,\n\n"b" : { "c" : null } \t}`,
  "structure inside strings": String.raw`{"a":"{[\"}],:","b":"\\","c":"\\\"","d":"\\\\\"}","inputs":"output"}`,
  "names of the envelope": `{"inputs":{"inputs":{}},"output":[{"properties":{"inputs":1}}],"properties":{"inputs":{"x":1}}}`,
  "nothing at all": `{}`,
  "10,000 levels": deep(10_000),
  "an empty key and a long string": `{"":"${"x".repeat(100_000)}"}`
}
