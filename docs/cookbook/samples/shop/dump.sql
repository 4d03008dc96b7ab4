-- What `mysqldump shop` writes.
CREATE TABLE `wp_options` (
  `option_id` bigint unsigned NOT NULL,
  `option_name` varchar(191) NOT NULL,
  `option_value` longtext NOT NULL
);
INSERT INTO `wp_options` VALUES
(1,'siteurl','http://shop.example'),
(2,'theme_mods','a:2:{s:4:\"logo\";s:28:\"http://shop.example/logo.png\";s:7:\"columns\";i:3;}'),
(3,'widget_text','a:1:{i:2;a:2:{s:5:\"title\";s:4:\"News\";s:4:\"text\";s:36:\"<a href=\"http://shop.example\">us</a>\";}}'),
(4,'blogname','The Shop');
CREATE TABLE `wp_postmeta` (
  `post_id` bigint unsigned NOT NULL,
  `meta_key` varchar(255),
  `meta_value` longtext
);
INSERT INTO `wp_postmeta` VALUES
(10,'_thumbnail_id','12'),
(12,'_wp_attachment_metadata','a:3:{s:5:\"width\";i:640;s:6:\"height\";i:480;s:4:\"file\";s:8:\"logo.png\";}');
