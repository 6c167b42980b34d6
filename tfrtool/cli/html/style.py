"""Hold the style and the script of all pages, both constant: a page allows them by digest, and nothing else."""

_CARDS = """
table.stack thead{display:none}
.script table.stack thead,.script table.stack thead tr{display:block}
.script table.stack th{display:inline-block;border:0;padding:.1rem 1rem .1rem 0}
table.stack tbody,table.stack tr,table.stack td{display:block}
table.stack tr{border-bottom:1px solid var(--line);padding:.4rem 0}
table.stack td{border:0;padding:.05rem 0;text-align:left;white-space:normal}
table.stack td,table.stack td:first-child:not(.number){min-width:0}
table.stack td[data-head]::before{content:attr(data-head) " ";color:var(--faint);font-size:.85rem}
table.stack td:empty{display:none}
"""
"""Style of a table whose rows are cards."""

STYLE = """
:root{color-scheme:light dark;--ink:#1c2024;--faint:#5c6570;--ground:#fff;--card:#f6f7f9;--line:#d5d9df;
--link:#0b5cad;--good:#1f7a43;--sound:#3d9a5f;--saved:#d08700;--lost:#c8322b}
@media (prefers-color-scheme:dark){:root{--ink:#e4e7ea;--faint:#9aa4af;--ground:#14171a;--card:#1d2125;--line:#363c43;
--link:#7db8f5;--good:#5cc489;--sound:#45a56b;--saved:#e0a32e;--lost:#ef6b61}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:75rem;background:var(--ground);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.25rem 0 .5rem}h3{font-size:1rem;margin:0 0 .25rem}
p{margin:.4rem 0}a{color:var(--link)}.faint,footer{color:var(--faint)}footer{margin-top:3rem;font-size:.85rem}
code,.mono{font-family:ui-monospace,monospace;font-size:.9em}
ul{margin:.4rem 0;padding-left:1.25rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:.5rem 0}
dt{color:var(--faint)}dd{margin:0}
section.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;
margin:1rem 0}
.clean{color:var(--good)}.damaged,.foreign,.error,.missing{color:var(--lost)}
.status{font-weight:600;white-space:nowrap}
.hint{border-left:.25rem solid var(--saved);padding-left:.75rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--faint);vertical-align:bottom;overflow-wrap:normal}
td.number,th.number{text-align:right;overflow-wrap:normal}td.number,td.word{white-space:nowrap}td.text{overflow-wrap:normal}td.sentence{min-width:14rem}
tbody tr:last-child>*{border-bottom:0}
.scroll{overflow-x:auto}table.stack td:first-child:not(.number){min-width:11rem}
th button{all:unset;cursor:pointer;position:relative;display:inline-block;padding-right:1.1em}
th button:hover{color:var(--ink)}th button:focus-visible{outline:2px solid var(--link)}
th button::after{content:"\\2195";position:absolute;right:0;bottom:0;opacity:.45}
[aria-sort=ascending] button::after{content:"\\2191";opacity:1}
[aria-sort=descending] button::after{content:"\\2193";opacity:1}
svg{display:block;width:100%}
svg.map{height:2rem;border-bottom:1px solid var(--line)}
svg.bar{height:1rem;min-width:5rem;margin-top:.25rem}
.histogram th{width:1%;white-space:nowrap;font-weight:400}.histogram th,.histogram td{border:0;padding-block:0}
rect.sound,.bar rect{fill:var(--sound)}rect.saved{fill:var(--saved)}rect.lost{fill:var(--lost)}
.legend{font-size:.85rem;color:var(--faint)}.legend span{white-space:nowrap;margin-right:1.25rem}
.legend svg{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem;vertical-align:-.1rem}
td.wide{width:99%}
.images{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.3rem}
.images img{max-width:12rem;max-height:12rem;min-width:1rem;min-height:1rem;object-fit:contain;background:var(--line);
border-radius:.25rem}
@media (max-width:42rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
CARDS
@media print{
:root{color-scheme:light;--ink:#000;--faint:#444;--ground:#fff;--card:#fff;--line:#bbb;--link:#000;--good:#1f7a43;
--sound:#3d9a5f;--saved:#d08700;--lost:#c8322b}
body{max-width:none;padding:0;font-size:10pt}rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.scroll{overflow:visible}table{font-size:8.5pt}th,td{padding-right:.5rem}
td.sentence{min-width:9rem}table.stack td:first-child:not(.number){min-width:6rem}
th button{padding:0}th button::after{content:none}
tr,section.card,svg{break-inside:avoid}section.card.long{break-inside:auto}
h2,h3{break-after:avoid}
}
""".replace(
    "CARDS",
    f"@media screen and (max-width:60rem),(max-width:42rem){{{_CARDS}}}\n"
    f"@media screen and (max-width:76rem){{{_CARDS.replace('.stack', '.broad')}}}\n",
)

SCRIPT = """
document.documentElement.classList.add("script");
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const words = new Intl.Collator(undefined, {numeric: true});
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const keyed = [...body.rows].map(row => [row.cells[column].dataset.value ?? row.cells[column].textContent, row]);
      const number = head.classList.contains("number");
      keyed.sort(([a], [b]) => (a === "") - (b === "") || sign * (number ? a - b : words.compare(a, b)));
      body.replaceChildren(...keyed.map(([, row]) => row));
    });
  });
}
"""
