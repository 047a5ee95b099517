/**
 * Texts of many kinds that a checkout with its dependencies can reach, to judge token counts by. Where a kind
 * is not here, `reason` says why.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dense, logs } from '../../tools/calibrate/synthetic.js';
import { missing, transcripts } from './shared-data.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = join(root, 'node_modules');
const LIMIT = 60_000; // characters of one kind: exact counts take time

/** @param {...string} paths below the repository */
const read = (...paths) => paths.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');

/** Files of a folder and its folders, in the order of their names. @param {string} folder @param {RegExp} pattern @returns {string[]} */
function files(folder, pattern) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path, pattern) : pattern.test(entry.name) ? [path] : [];
    });
}
/** @param {string} folder @param {RegExp} pattern */
const all = (folder, pattern) =>
  files(folder, pattern)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

const packages = [
  '@langchain/core',
  'ai',
  'openai',
  'zod',
  'rxjs',
  'comlink',
  'idb',
  'fast-check',
  'undici',
  'eslint',
  'axe-core',
  'typescript',
  'gpt-tokenizer',
];
/** @param {string} file @returns {string[]} */
const each = (file) =>
  packages
    .map((name) => join(modules, name, file))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
const markdown = each('README.md').join('\n\n');
const manifests = each('package.json');

/** Paragraphs of Markdown that are sentences. @param {string} text */
const sentences = (text) =>
  text
    .replace(/```[\s\S]*?```/g, '')
    .split('\n')
    .filter((line) => /^[A-Z][a-z' ]+ .{60,}[.:]$/.test(line) && !/[`<[|]/.test(line))
    .join('\n');

/** @param {string} code of the folder of the TypeScript compiler's messages */
const compiler = (code) => () =>
  Object.values(JSON.parse(read(`node_modules/typescript/lib/${code}/diagnosticMessages.generated.json`)))
    .slice(0, 700)
    .join('\n');

/** The texts within the JSON of a locale. @param {unknown} value @returns {string[]} */
const strings = (value) =>
  typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(strings) : [];
/** The sentences of an accessibility checker, templates left out. @param {string} code */
const locale = (code) => () =>
  [...new Set(strings(JSON.parse(read(`node_modules/axe-core/locales/${code}.json`))))]
    .filter((line) => line.length > 20 && !line.includes('{'))
    .join('\n');

const VIETNAMESE = `Khi một cuộc trò chuyện kéo dài, mô hình ngôn ngữ không thể đọc hết mọi tin nhắn cùng một lúc. Mỗi mô hình có một
cửa sổ ngữ cảnh với số lượng từ nhất định, và khi vượt quá giới hạn đó thì yêu cầu sẽ bị từ chối. Vì vậy chương trình phải chọn
những tin nhắn nào được giữ lại và những tin nhắn nào được tóm tắt hoặc bỏ đi. Người dùng thường muốn biết điều gì đã xảy ra, cho
nên giao diện hiển thị một dấu hiệu nhỏ ở chỗ các tin nhắn cũ đã được rút gọn. Nếu bạn muốn giữ một tin nhắn quan trọng, bạn có
thể ghim nó lại; tin nhắn được ghim sẽ không bao giờ bị xóa. Hôm qua chúng tôi đã thử nghiệm với hơn hai nghìn tin nhắn và kết
quả rất tốt: thời gian xử lý chỉ vài phần nghìn giây, và không có lời gọi công cụ nào bị mất kết quả của nó.`;

const ARABIC = `عندما تطول المحادثة لا يستطيع النموذج اللغوي قراءة جميع الرسائل في وقت واحد. لكل نموذج نافذة سياق محدودة، وإذا تجاوز الطلب
هذا الحد فسوف يُرفض. لذلك يجب على البرنامج أن يختار الرسائل التي يحتفظ بها والرسائل التي يلخصها أو يحذفها. يريد المستخدم عادة أن
يعرف ما الذي حدث، ولهذا تعرض الواجهة علامة صغيرة في المكان الذي اختصرت فيه الرسائل القديمة. إذا أردت الاحتفاظ برسالة مهمة فيمكنك
تثبيتها، والرسالة المثبتة لا تحذف أبدا. قمنا أمس بتجربة النظام على أكثر من ألفي رسالة وكانت النتيجة جيدة جدا: استغرقت المعالجة بضعة
أجزاء من الألف من الثانية، ولم تفقد أي دعوة للأدوات نتيجتها.`;

const HINDI = `जब बातचीत लंबी हो जाती है तो भाषा मॉडल सभी संदेशों को एक साथ नहीं पढ़ सकता। हर मॉडल की एक सीमित संदर्भ विंडो होती है और अगर
अनुरोध उस सीमा से बड़ा हो तो उसे अस्वीकार कर दिया जाता है। इसलिए प्रोग्राम को यह चुनना पड़ता है कि कौन से संदेश रखे जाएँ और कौन से संदेश
छोटे किए जाएँ या हटा दिए जाएँ। उपयोगकर्ता आम तौर पर जानना चाहता है कि क्या हुआ, इसलिए जहाँ पुराने संदेश छोटे किए गए हैं वहाँ एक छोटा सा
निशान दिखाया जाता है। अगर आप किसी महत्वपूर्ण संदेश को बचाना चाहते हैं तो आप उसे पिन कर सकते हैं; पिन किया हुआ संदेश कभी नहीं हटाया जाता।
कल हमने दो हज़ार से अधिक संदेशों के साथ परीक्षण किया और परिणाम बहुत अच्छा रहा।`;

const THAI = `เมื่อการสนทนายาวขึ้น แบบจำลองภาษาไม่สามารถอ่านข้อความทั้งหมดพร้อมกันได้ แบบจำลองแต่ละตัวมีหน้าต่างบริบทที่จำกัด
และถ้าคำขอมีขนาดเกินขีดจำกัดนั้น คำขอก็จะถูกปฏิเสธ ดังนั้นโปรแกรมจึงต้องเลือกว่าจะเก็บข้อความใดไว้ และจะสรุปหรือลบข้อความใดออก
ผู้ใช้มักอยากรู้ว่าเกิดอะไรขึ้น หน้าจอจึงแสดงเครื่องหมายเล็ก ๆ ตรงตำแหน่งที่ข้อความเก่าถูกย่อ ถ้าคุณต้องการเก็บข้อความสำคัญไว้
คุณสามารถปักหมุดข้อความนั้นได้ ข้อความที่ปักหมุดจะไม่ถูกลบเลย เมื่อวานนี้เราได้ทดสอบกับข้อความมากกว่าสองพันข้อความ และผลลัพธ์ดีมาก`;

/** Words and emoji as people mix them. */
function emoji() {
  const random = dense.random(5);
  const words = ['great work', 'see you soon', 'thanks a lot', 'no idea', 'happy birthday', 'on my way'];
  let text = '';
  for (let index = 0; index < 600; index++) {
    const start = [0x1f600, 0x1f300, 0x1f900, 0x1f680][index % 4];
    const face = String.fromCodePoint(start + Math.floor(random() * 0x40));
    text += random() < 0.4 ? face : `${words[Math.floor(random() * words.length)]} ${face}\n`;
  }
  return text;
}

const python = ['3.13', '3.12', '3.11', '3.10', '3.9']
  .map((version) => `/usr/lib/python${version}`)
  .find((path) => existsSync(join(path, 'argparse.py')));

/** @type {Record<string, () => string | { reason: string }>} */
const kinds = {
  English: () =>
    sentences(markdown + all(join(modules, '@langchain/core'), /\.md$/) + all(join(modules, 'ai'), /\.mdx?$/)),
  C: () => all(join(root, 'src'), /\.[ch]$/).replace(/(0x[\da-f]{4}, )+/g, ''),
  TypeScript: () =>
    read('node_modules/typescript/lib/lib.es5.d.ts') +
    all(join(modules, 'gpt-tokenizer/src'), /^(?!.*(test|models)).*\.ts$/),
  JavaScript: () => all(join(modules, 'eslint/lib/linter'), /\.js$/),
  Python: () =>
    python
      ? ['argparse.py', 'json/decoder.py', 'textwrap.py']
          .map((name) => readFileSync(join(python, name), 'utf8'))
          .join('\n')
      : { reason: 'no Python library is installed' },
  JSON: () => read('package-lock.json').slice(0, LIMIT / 2) + manifests.join('\n'),
  'minified JSON': () =>
    missing === null
      ? transcripts.map(({ bytes }) => bytes.toString('utf8').slice(0, 12_000)).join('\n')
      : manifests.map((text) => JSON.stringify(JSON.parse(text))).join('\n'),
  'minified JS': () => read('node_modules/ajv/dist/ajv.min.js'),
  Markdown: () => markdown,
  logs: () => [...logs()].join('\n'),
  base64: () => [...dense.base64()].join('\n'),
  hexadecimal: () => [...dense.hexadecimal()].join('\n'),
  French: compiler('fr'),
  German: compiler('de'),
  Spanish: compiler('es'),
  Italian: compiler('it'),
  Portuguese: compiler('pt-br'),
  Polish: compiler('pl'),
  Czech: compiler('cs'),
  Turkish: compiler('tr'),
  Dutch: locale('nl'),
  Danish: locale('da'),
  Swedish: locale('sv'),
  Greek: locale('el'),
  Hebrew: locale('he'),
  Vietnamese: () => VIETNAMESE,
  Chinese: compiler('zh-cn'),
  'Chinese, traditional': compiler('zh-tw'),
  Japanese: compiler('ja'),
  Korean: compiler('ko'),
  Russian: compiler('ru'),
  Arabic: () => ARABIC,
  Hindi: () => HINDI,
  Thai: () => THAI,
  emoji,
};

/** @type {{ name: string, text: string, reason?: string }[]} */
export const tokenTexts = Object.entries(kinds).map(([name, make]) => {
  const made = make();
  return typeof made === 'string' ? { name, text: made.slice(0, LIMIT) } : { name, text: '', reason: made.reason };
});
